package triage

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Service is a small part of a service like GitHub: one repository, acme/shop.
type Service struct {
	token string
	mux   *http.ServeMux

	mu sync.Mutex
	// reviewers are those requested, by pull request; reads counts what was read.
	reviewers map[int][]string
	reads     int
}

type user struct {
	Login string `json:"login"`
}

type pull struct {
	Number int      `json:"number"`
	Title  string   `json:"title"`
	User   user     `json:"user"`
	files  []string // in the order of the answer
}

var pulls = []pull{
	{11, "Pay by invoice", user{"ada"}, []string{"billing/invoice.go", "billing/tax.go", "docs/billing.md"}},
	{12, "Search by colour", user{"bo"}, []string{"search/index.go", "search/query.go"}},
	{13, "Fix a typo", user{"cy"}, []string{"docs/search.md"}},
}

// authors have changed the files of a folder, the newest first.
var authors = map[string][]string{
	"billing": {"dee", "ada", "dee"},
	"search":  {"eli", "eli", "cy"},
	"docs":    {"cy", "fay"},
}

// New returns the service; who calls it must show the token.
func New(token string) *Service {
	s := &Service{token: token, mux: http.NewServeMux(), reviewers: map[int][]string{}}
	s.mux.HandleFunc("GET /repos/acme/shop/pulls", s.listPulls)
	s.mux.HandleFunc("GET /repos/acme/shop/pulls/{number}/files", s.listFiles)
	s.mux.HandleFunc("GET /repos/acme/shop/commits", s.listCommits)
	s.mux.HandleFunc("POST /repos/acme/shop/pulls/{number}/requested_reviewers", s.requestReviewers)
	return s
}

// ServeHTTP answers a request.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+s.token {
		reply(w, http.StatusUnauthorized, map[string]string{"message": "Bad credentials"})
		return
	}
	if r.Method == http.MethodGet {
		s.mu.Lock()
		s.reads++
		s.mu.Unlock()
	}
	s.mux.ServeHTTP(w, r)
}

// Reads is how many requests have read something.
func (s *Service) Reads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads
}

// Reviewers says who was asked to review what, one line a pull request.
func (s *Service) Reviewers() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []string
	for _, p := range pulls {
		if asked := s.reviewers[p.Number]; len(asked) > 0 {
			lines = append(lines, fmt.Sprintf("#%d %s: %s", p.Number, p.Title, strings.Join(asked, ", ")))
		}
	}
	return lines
}

// listPulls answers two a page, and says by the header Link where it goes on.
func (s *Service) listPulls(w http.ResponseWriter, r *http.Request) {
	const each = 2
	page := max(number(r.URL.Query().Get("page")), 1)
	from := min((page-1)*each, len(pulls))
	to := min(from+each, len(pulls))
	if to < len(pulls) {
		w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?page=%d>; rel="next"`, r.Host, r.URL.Path, page+1))
	}
	reply(w, http.StatusOK, pulls[from:to])
}

func (s *Service) listFiles(w http.ResponseWriter, r *http.Request) {
	p, ok := find(w, r)
	if !ok {
		return
	}
	files := []map[string]string{}
	for _, name := range p.files {
		files = append(files, map[string]string{"filename": name, "status": "modified"})
	}
	reply(w, http.StatusOK, files)
}

func (s *Service) listCommits(w http.ResponseWriter, r *http.Request) {
	folder, _, _ := strings.Cut(r.URL.Query().Get("path"), "/")
	commits := []map[string]any{}
	for i, author := range authors[folder] {
		commits = append(commits, map[string]any{"sha": fmt.Sprintf("%s-%d", folder, i), "author": user{author}})
	}
	reply(w, http.StatusOK, commits)
}

func (s *Service) requestReviewers(w http.ResponseWriter, r *http.Request) {
	p, ok := find(w, r)
	if !ok {
		return
	}
	var in struct{ Reviewers []string }
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&in); err != nil || slices.Contains(in.Reviewers, p.User.Login) {
		reply(w, http.StatusUnprocessableEntity, map[string]string{"message": "Review cannot be requested from pull request author."})
		return
	}
	s.mu.Lock()
	s.reviewers[p.Number] = in.Reviewers
	s.mu.Unlock()
	reply(w, http.StatusCreated, p)
}

func find(w http.ResponseWriter, r *http.Request) (pull, bool) {
	i := slices.IndexFunc(pulls, func(p pull) bool { return p.Number == number(r.PathValue("number")) })
	if i < 0 {
		reply(w, http.StatusNotFound, map[string]string{"message": "Not Found"})
		return pull{}, false
	}
	return pulls[i], true
}

// number reads a number; what is none is 0.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // whoever asked is gone
}
