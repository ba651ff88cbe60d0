package search

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func wordsOf(text string) []string {
	var words []string
	splitWords(text, func(word []byte, _ separator) { words = append(words, string(word)) })
	return words
}

func TestSplitWords(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"  ... --- ", ""},
		{"create a dashboard", "create a dashboard"},
		{"createCalendarEvent", "create calendar event"},
		{"get_http_status", "get http status"},
		{"get-http-status", "get http status"},
		{"orders.refund/v2", "orders refund v 2"},
		{"getHTTPStatus", "get http status"},
		{"HTTPStatus", "http status"},
		{"Events_3_FindEvents", "events 3 find events"},
		{"oauth2Token", "oauth 2 token"},
		{"open PRs of the URLs", "open pr of the url"},
		{"IDs", "id"},
		{"APIServer", "api server"},
		{"the user's orders", "the user orders"},
		{"users’ orders, don't", "users orders don t"},
		{"ÄpfelÜber", "apfel uber"},
		{"ÉCLAIRBox", "eclair box"},
		{"Straße café naïve", "strasse cafe naive"},
		{"cafe\u0301", "cafe"},
		{"ｆｕｌｌ ﬁle", "full file"},
		{"Nachricht löschen", "nachricht loschen"},
		{"Привет мир", "привет мир"},
		{"天気予報", "天気 気予 予報"},
		{"天", "天"},
		{"get天気now", "get 天気 now"},
		{"날씨 정보", "날씨 정보"},
		{"が", "が"},
		{"हिन्दी में", "हिन्दी में"},
		{"a\xffb", "a b"},
		{"😀 party", "party"},
	} {
		if got := strings.Join(wordsOf(tt.text), " "); got != tt.want {
			t.Errorf("words of %q are %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestSplitWordsSeparators(t *testing.T) {
	var got []separator
	splitWords("GitHub web-page is here, now. Then v1.2\nend", func(_ []byte, before separator) { got = append(got, before) })
	want := []separator{
		sentence, joined, spaced, marked, spaced, spaced, comma, // git hub web page is here now
		sentence, spaced, joined, marked, sentence, // then v 1 2 end
	}
	if !slices.Equal(got, want) {
		t.Errorf("separators are %v, want %v", got, want)
	}
}

func TestSplitWordsBoundsAWord(t *testing.T) {
	for _, letter := range []string{"x", "X", "é", "ж", "漢", "𝔘"} {
		for _, word := range wordsOf(strings.Repeat(letter, 10_000)) {
			if len(word) > maxWord || !utf8.ValidString(word) {
				t.Errorf("a long run of %s has the word %q", letter, word)
			}
		}
	}
}

func TestStem(t *testing.T) {
	same := [][]string{
		{"calculate", "calculation", "calculates", "calculating"},
		{"message", "messages"},
		{"translate", "translation", "translator"},
		{"query", "queries"},
	}
	for _, words := range same {
		for _, word := range words[1:] {
			if stem(word) != stem(words[0]) {
				t.Errorf("stem of %s is %s, that of %s is %s", word, stem(word), words[0], stem(words[0]))
			}
		}
	}
	for _, word := range []string{"привет", "天気", "v2", "", "loschen"} {
		if got := stem(word); got != word && word != "loschen" {
			t.Errorf("stem of %q is %q", word, got)
		}
	}
}

func TestTypos(t *testing.T) {
	for _, tt := range []struct {
		a, b  string
		limit int
		want  int
	}{
		{"calendar", "calendar", 1, 0},
		{"calender", "calendar", 1, 1},
		{"calendr", "calendar", 1, 1},
		{"calenddar", "calendar", 1, 1},
		{"claendar", "calendar", 1, 1}, // swapped
		{"clandar", "calendar", 2, 2},
		{"weather", "whether", 1, 2},
		{"über", "uber", 1, 1},
		{"invoice", "calendar", 2, 3},
	} {
		if got := typos(tt.a, tt.b, tt.limit); got != tt.want {
			t.Errorf("typos(%s, %s, %d) = %d, want %d", tt.a, tt.b, tt.limit, got, tt.want)
		}
		if got := typos(tt.b, tt.a, tt.limit); got != tt.want {
			t.Errorf("typos(%s, %s, %d) = %d, want %d", tt.b, tt.a, tt.limit, got, tt.want)
		}
	}
}

// A line that the lexicon misreads would relate nothing, and say nothing.
func TestLexiconIsWellFormed(t *testing.T) {
	for i, line := range strings.Split(strings.TrimRight(synonymsText, "\n"), "\n") {
		if len(wordsOf(line)) < 2 || line != strings.ToLower(line) {
			t.Errorf("synonyms.txt:%d: %q, want two words or more in lower case", i+1, line)
		}
	}
	for i, line := range strings.Split(strings.TrimRight(topicsText, "\n"), "\n") {
		name, rest, ok := strings.Cut(line, ":")
		if !ok || len(wordsOf(name)) != 1 || len(wordsOf(rest)) < 2 || line != strings.ToLower(line) {
			t.Errorf("topics.txt:%d: %q, want a topic, a colon and two words or more, in lower case", i+1, line)
		}
	}
	l := englishLexicon()
	for word, related := range l.related {
		for _, r := range related {
			if r.weight <= 0 || r.weight > synonymWeight+topicWeight || int(r.word) == word {
				t.Errorf("%s is related to %s by %v", l.words[word], l.words[r.word], r.weight)
			}
		}
	}
}
