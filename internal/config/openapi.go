package config

import (
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/catalog/lookup"
	"github.com/heddle-dev/heddle/catalog/undo"
)

// OpenAPI is a service whose operations are tools, by its OpenAPI specification.
type OpenAPI struct {
	// Namespace begins the ids of its tools.
	Namespace string
	// File is the absolute path of the specification, and Root the absolute folder
	// that all files it refers to must lie in, if it is not the file's own. Or else
	// URL is where it is fetched.
	File, Root, URL string
	// Server is where the service is called. Empty: where its specification says.
	Server string
	// Logins say how to authenticate, by the names of security schemes.
	Logins map[string]Login
	// Scheme is how to authenticate where the specification says nothing.
	Scheme *Scheme
	// Origins may see credentials beside that of the server.
	Origins []string
	// Allow names hosts that may be reached by plain HTTP and at private addresses.
	Allow []string
	// Protect are globs of tool ids, or methods with globs of paths, that need
	// approval of each call; Reads are operations that only read.
	Protect, Reads []string
	// HonoursKeys are writes whose service honours idempotency keys, named as in
	// Protect; Lookups say how to find out what became of a write, Undos how one is
	// undone.
	HonoursKeys []string
	Lookups     []lookup.Declaration
	Undos       []undo.Declaration
	// Timeout bounds one call. 0: the default.
	Timeout time.Duration
}

// Login says what authenticates. Token, Password and ClientSecret refer to
// secrets.
type Login struct {
	Token              string
	Username, Password string
	ClientID           string
	ClientSecret       string
}

// Scheme is a way to authenticate: bearer, basic, header, query or cookie, the
// last three with the name of where the secret goes.
type Scheme struct{ Type, Name string }

// maxCall bounds the timeout of one call of a service.
const maxCall = catalog.MaxTimeout

func readOpenAPI(v value, namespace, dir string) OpenAPI {
	o := OpenAPI{Namespace: namespace}
	v.fields(
		field{name: "spec", required: true, read: func(v value) {
			if spec := v.filled(); strings.Contains(spec, "://") {
				o.URL = v.serviceURL(spec)
			} else if spec != "" {
				o.File = absolute(v, dir, spec)
			}
		}},
		field{name: "root", read: func(v value) { o.Root = absolute(v, dir, v.filled()) }},
		field{name: "server", read: func(v value) {
			if server := v.expanded(); server != "" {
				o.Server = v.serviceURL(server)
			}
		}},
		field{name: "auth", read: func(v value) {
			o.Logins = map[string]Login{}
			v.entries(func(scheme string, entry value) { o.Logins[scheme] = readLogin(entry) })
		}},
		field{name: "scheme", read: func(v value) { o.Scheme = readScheme(v) }},
		field{name: "origins", read: func(v value) {
			v.each(func(v value, text string) { o.Origins = append(o.Origins, v.serviceURL(text)) })
		}},
		field{name: "allow", read: func(v value) {
			v.list(func(v value) {
				if host := v.filled(); host != "" {
					o.Allow = append(o.Allow, host)
				}
			})
		}},
		field{name: "protect", read: func(v value) {
			v.each(func(v value, text string) { o.Protect = append(o.Protect, v.protected(text)) })
		}},
		field{name: "reads", read: func(v value) {
			v.each(func(v value, text string) {
				if method, path, ok := strings.Cut(text, " "); !ok || method != strings.ToUpper(method) || !strings.HasPrefix(path, "/") {
					v.problem("want method and path of one operation, such as POST /search; no names and no patterns, which the specification could move")
				}
				o.Reads = append(o.Reads, text)
			})
		}},
		field{name: "honours_keys", read: func(v value) {
			v.each(func(v value, text string) { o.HonoursKeys = append(o.HonoursKeys, v.protected(text)) })
		}},
		field{name: "reconcile", read: func(v value) { o.Lookups = readLookups(v, namespace) }},
		field{name: "undo", read: func(v value) { o.Undos = readUndos(v, namespace) }},
		field{name: "timeout", read: func(v value) { o.Timeout = v.duration(maxCall) }},
	)
	if o.Root != "" && o.File != "" {
		if inside, err := filepath.Rel(o.Root, o.File); err != nil || !filepath.IsLocal(inside) {
			value{reader: v.reader, path: v.path + ".root"}.problem("the specification is not in this folder")
		}
	}
	if o.Root != "" && o.URL != "" {
		value{reader: v.reader, path: v.path + ".root"}.problem("is for a specification that is a file")
	}
	return o
}

// each reads a list of text.
func (v value) each(visit func(v value, text string)) {
	v.list(func(v value) {
		if text := v.text(); text != "" {
			visit(v, text)
		}
	})
}

func (v value) serviceURL(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "https" && u.Scheme != "http", u.Host == "":
		v.problem("want a URL such as https://api.example.com")
	case u.User != nil:
		v.problem("holds a credential; refer to a secret in auth")
	}
	return text
}

// protected reads what is protected: a glob of tool ids, or a method and a glob of
// paths.
func (v value) protected(text string) string {
	if method, path, ok := strings.Cut(text, " "); ok {
		if method != strings.ToUpper(method) || !strings.HasPrefix(path, "/") || strings.Contains(strings.TrimSuffix(path, "*"), "*") {
			v.problem("want a pattern of tool ids such as billing.*, or a method and a path that may end in *, such as DELETE /admin/*; * is any method")
		}
		return text
	}
	if err := catalog.CheckGlob(text); err != nil {
		v.problem("%s", err)
	}
	return text
}

func readScheme(v value) *Scheme {
	s := &Scheme{}
	v.fields(
		field{name: "type", required: true, read: func(v value) {
			switch s.Type = v.text(); s.Type {
			case "", "bearer", "basic", "header", "query", "cookie":
			default:
				v.problem("unknown type %q; known are bearer, basic, header, query and cookie", s.Type)
			}
		}},
		field{name: "name", read: func(v value) { s.Name = v.text() }},
	)
	if named := s.Type == "header" || s.Type == "query" || s.Type == "cookie"; named && s.Name == "" {
		v.problem("the field name is missing: that of the %s", s.Type)
	}
	return s
}

func readLogin(v value) Login {
	var l Login
	v.fields(
		field{name: "token", read: func(v value) { l.Token = v.secretRef() }},
		field{name: "username", read: func(v value) { l.Username = v.filled() }},
		field{name: "password", read: func(v value) { l.Password = v.secretRef() }},
		field{name: "client_id", read: func(v value) { l.ClientID = v.filled() }},
		field{name: "client_secret", read: func(v value) { l.ClientSecret = v.secretRef() }},
	)
	has := func(name string) bool { _, ok := v.at[v.path+"."+name]; return ok }
	ways := 0
	for _, way := range [][]string{{"token"}, {"username", "password"}, {"client_id", "client_secret"}} {
		found := 0
		for _, name := range way {
			if has(name) {
				found++
			}
		}
		if found > 0 {
			ways++
		}
		if found == 1 && len(way) == 2 {
			v.problem("want both %s and %s", way[0], way[1])
		}
	}
	if ways != 1 {
		v.problem("want one of token, username with password, and client_id with client_secret")
	}
	return l
}

// secretRef reads a reference to a secret. What is none is not repeated in the
// problem: it may be the secret itself.
func (v value) secretRef() string {
	text := v.text()
	if text == "" {
		return ""
	}
	if _, err := catalog.ParseSecretRef(text); err != nil {
		v.problem("want a reference to a secret such as github.token or connection:crm:token, not the secret itself")
		return ""
	}
	return text
}
