package openapi

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"

	"github.com/heddle-dev/heddle/catalog"
)

// nameAll gives each operation its tool id. An id is made of the namespace, the
// first tag and the operationId, or else method and path. Of operations that
// would have the same id, each gets its method at the end, and where that does not
// tell them apart a digest of method and path: so an id never depends on the order
// in the specification, and a bare one never comes to mean another operation. One
// that is made to be like another all the same has no id.
func nameAll(namespace string, operations []*operation) []string {
	ids := make([]string, len(operations))
	for i, o := range operations {
		ids[i] = nameOf(namespace, o, "")
	}
	disambiguate(ids, func(i int) string {
		o := operations[i]
		return nameOf(namespace, o, "_"+strings.ToLower(o.method))
	})
	disambiguate(ids, func(i int) string { return nameOf(namespace, operations[i], "_"+shortDigest(operations[i].key())) })
	disambiguate(ids, func(int) string { return "" })
	return ids
}

// disambiguate renames all that are alike, upper and lower case apart.
func disambiguate(ids []string, rename func(int) string) {
	count := map[string]int{}
	for _, id := range ids {
		count[strings.ToLower(id)]++
	}
	for i, id := range ids {
		if count[strings.ToLower(id)] > 1 {
			ids[i] = rename(i)
		}
	}
}

// nameOf makes an id that fits the catalog's bounds. The suffix is never cut.
func nameOf(namespace string, o *operation, suffix string) string {
	tag := lowerFirst(identifier(o.tag))
	name := o.operationID
	if identifier(name) == "" {
		name = o.method + " " + o.path
		name = strings.ToLower(o.method) + name[len(o.method):]
	} else if prefix, rest, ok := strings.Cut(name, "/"); ok && tag != "" && strings.EqualFold(identifier(prefix), tag) && identifier(rest) != "" {
		name = rest // issues/create with the tag issues
	}
	name = identifier(name)
	if tag != "" && len(namespace)+len(tag)+len(name)+len(suffix)+2 <= catalog.MaxID {
		return namespace + "." + tag + "." + name + suffix
	}
	if room := catalog.MaxID - len(namespace) - 1 - len(suffix); len(name) > room {
		digest := "_" + shortDigest(o.key())
		name = strings.TrimRight(name[:max(room-len(digest), 1)], "_") + digest
	}
	return namespace + "." + name + suffix
}

func shortDigest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])[:8]
}

// lowerFirst writes the first word of a name in lower case: Billing is billing,
// APIKeys is apiKeys.
func lowerFirst(s string) string {
	n := 0
	for n < len(s) && s[n] >= 'A' && s[n] <= 'Z' {
		n++
	}
	if n > 1 && n < len(s) && s[n] >= 'a' && s[n] <= 'z' {
		n-- // the capital of the second word
	}
	return strings.ToLower(s[:n]) + s[n:]
}

// identifier makes a name that is one in TypeScript too: what is no letter, digit
// or _ ends a word, and the next word begins in upper case.
func identifier(s string) string {
	var b strings.Builder
	upper := false
	for _, r := range s {
		switch {
		case r == '_' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			if b.Len() == 0 && !unicode.IsLetter(r) {
				if r == '_' {
					continue
				}
				b.WriteByte('n') // a name begins with a letter
			}
			if upper && b.Len() > 0 {
				r = unicode.ToUpper(r)
			}
			upper = false
			b.WriteRune(r)
		default:
			upper = true
		}
	}
	return b.String()
}
