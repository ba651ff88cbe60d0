package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/catalog"
)

// maxNamespace bounds a namespace, so that there is room for the names.
const maxNamespace = 24

// CheckNamespace says what is wrong with a namespace.
func CheckNamespace(namespace string) error {
	if catalog.CheckID(namespace+".x") != nil || strings.Contains(namespace, ".") || len(namespace) > maxNamespace {
		return fmt.Errorf("namespace %q: want a letter, then letters, digits, _ and -, %d characters at most", namespace, maxNamespace)
	}
	return nil
}

// checkName says why a name of the server can name nothing.
func checkName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("it has no name")
	case len(name) > maxName:
		return fmt.Errorf("its name is %d bytes long, at most %d are allowed", len(name), maxName)
	case !utf8.ValidString(name):
		return fmt.Errorf("its name is not valid UTF-8")
	}
	for _, r := range name {
		if unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) {
			return fmt.Errorf("its name holds the character %U, which cannot be seen", r)
		}
	}
	return nil
}

// idOf makes a tool's id of the server's name for it. A name that is fit stays as
// it is; every other one gets a digest of the exact name at its end. So an id
// depends on nothing but the name, and no two names share one.
func idOf(namespace, name string) string {
	if catalog.CheckID(namespace+"."+name) == nil {
		return namespace + "." + name
	}
	digest := "_" + shortDigest(name)
	room := catalog.MaxID - len(namespace) - 1 - len(digest)
	return namespace + "." + cutBytes(identifier(name), room) + digest
}

func cutBytes(s string, most int) string { return strings.TrimRight(s[:min(len(s), most)], "_-") }

func shortDigest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])[:8]
}

// identifier keeps of a name what an id may hold.
func identifier(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'; {
		case letter, b.Len() > 0 && (r >= '0' && r <= '9' || r == '_' || r == '-'):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	if b.Len() == 0 {
		return "tool"
	}
	return b.String()
}

// ToolID is the id of the tool that a server calls by a name, in a namespace.
func ToolID(namespace, name string) string { return idOf(namespace, name) }
