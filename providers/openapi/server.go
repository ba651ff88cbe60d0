package openapi

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// serverRule is where an operation is called.
type serverRule struct {
	// url is absolute, or relative to the specification.
	url string
	// own says that the path or the operation names it, and not the whole.
	own bool
}

// readServer takes the nearest server: that of the operation, of the path, of the
// whole.
func (c *compiler) readServer() {
	for _, level := range []place{
		c.op.self.child("servers", c.self["servers"]),
		c.op.item.child("servers", c.item["servers"]),
	} {
		if u, ok := c.spec.serverAt(level, c.notes); ok {
			c.server = serverRule{u, true}
			return
		}
	}
	c.server.url, _ = c.spec.rootServer(c.notes)
}

func (s *Spec) rootServer(n *notes) (string, bool) {
	if s.dialect == swagger2 {
		return servers2(s.home.open("", s.home.root))
	}
	return s.serverAt(s.servers, n)
}

// serverAt takes the first server of a list that can be used, its variables
// filled in with their defaults.
func (s *Spec) serverAt(list place, n *notes) (string, bool) {
	for i, item := range elements(list.value) {
		at := list.item(i, item)
		p, err := s.resolve(at)
		if err != nil {
			n.add(at, "the server is left out: "+err.Error())
			continue
		}
		u, err := fillServer(p)
		if err != nil {
			n.add(p, "the server is left out: "+err.Error())
			continue
		}
		return u, true
	}
	return "", false
}

func fillServer(p place) (string, error) {
	o := objectOf(p.value)
	var server openapi3.Server
	server.URL = o.text("url")
	for _, m := range members(o["variables"]) {
		v := objectOf(m.value)
		value := strings.Trim(string(v["default"]), `"`)
		if options := elements(v["enum"]); value == "" && len(options) > 0 {
			value = strings.Trim(string(options[0]), `"`)
		}
		server.URL = strings.ReplaceAll(server.URL, "{"+m.key+"}", value)
	}
	if strings.ContainsAny(server.URL, "{}") {
		return "", fmt.Errorf("a variable of %q has no default", cut(server.URL, 100))
	}
	if _, err := url.Parse(server.URL); err != nil || server.URL == "" {
		return "", fmt.Errorf("%q is no URL", cut(server.URL, 100))
	}
	return server.URL, nil
}

var errNoServer = errors.New("the specification names no server that can be called; give its address (server)")

// absolute resolves a server's URL against where the specification is.
func (s *Spec) absolute(server string, base *url.URL) (*url.URL, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, fmt.Errorf("the server %q is no URL", cut(server, 100))
	}
	if !u.IsAbs() {
		from := base
		if isURL(s.home.location) {
			from, _ = url.Parse(s.home.location)
		}
		if from == nil {
			return nil, errNoServer
		}
		u = from.ResolveReference(u)
	}
	if u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("the server %q is no https URL", cut(server, 100))
	}
	u.RawQuery, u.Fragment = "", ""
	return u, nil
}

// scheme is one way to authenticate.
type scheme struct {
	// name is that of the specification.
	name string
	*openapi3.SecurityScheme
	scopes []string
}

// securityRule says how an operation authenticates: by all schemes of one of the
// alternatives. An empty alternative is to call without.
type securityRule struct {
	alternatives [][]scheme
	// declared says that the specification says anything at all.
	declared bool
}

// readSecurity reads the operation's own security or else that of the whole.
func (c *compiler) readSecurity() {
	list := c.op.self.child("security", c.self["security"])
	if c.self["security"] == nil {
		list = c.spec.security
	}
	if list.value == nil {
		return
	}
	if kindOf(list.value) != "an array" {
		c.notes.add(list, "is "+kindOf(list.value)+", want an array; the connection's own way to authenticate is used")
		return
	}
	c.security.declared = true
	for i, item := range elements(list.value) {
		var all []scheme
		usable := true
		for _, m := range members(item) {
			at := list.item(i, item).child(m.key, m.value)
			read, err := c.scheme(m.key)
			if err != nil {
				c.notes.add(at, err.Error()+"; this alternative cannot be used")
				usable = false
				break
			}
			for _, scope := range elements(m.value) {
				read.scopes = append(read.scopes, unquote(scope))
			}
			all = append(all, read)
		}
		if usable {
			c.security.alternatives = append(c.security.alternatives, all)
		}
	}
	if len(elements(list.value)) == 0 { // security: []
		c.security.alternatives = [][]scheme{{}}
	}
}

// scheme has kin-openapi read a security scheme.
func (c *compiler) scheme(name string) (scheme, error) {
	ref := "#" + at("/components/securitySchemes", name)
	if c.spec.dialect == swagger2 {
		ref = "#" + at("/securityDefinitions", name)
	}
	p, err := c.spec.resolve(place{c.spec.home, "", must(encode(map[string]string{"$ref": ref}))})
	if err != nil {
		return scheme{}, fmt.Errorf("the security scheme %q is not declared", name)
	}
	read := &openapi3.SecurityScheme{}
	if c.spec.dialect == swagger2 {
		read = scheme2(objectOf(p.value))
	} else if err := read.UnmarshalJSON(p.value); err != nil {
		return scheme{}, fmt.Errorf("the security scheme %q cannot be read: %w", name, err)
	}
	read.Scheme, read.In = strings.ToLower(read.Scheme), strings.ToLower(read.In)
	switch {
	case read.Type == "apiKey" && slices.Contains([]string{"header", "query", "cookie"}, read.In) && read.Name != "":
	case read.Type == "http" && (read.Scheme == "basic" || read.Scheme == "bearer"):
	case read.Type == "oauth2", read.Type == "openIdConnect":
	default:
		return scheme{}, fmt.Errorf("the security scheme %q is of a kind that is not supported (%.40s %.40s)", name, read.Type, read.Scheme)
	}
	return scheme{name: name, SecurityScheme: read}, nil
}

// scheme2 reads a security definition of Swagger 2.
func scheme2(o object) *openapi3.SecurityScheme {
	s := &openapi3.SecurityScheme{Type: o.text("type"), Name: o.text("name"), In: o.text("in")}
	switch s.Type {
	case "basic":
		s.Type, s.Scheme = "http", "basic"
	case "oauth2":
		if o.text("flow") == "application" {
			s.Flows = &openapi3.OAuthFlows{ClientCredentials: &openapi3.OAuthFlow{TokenURL: o.text("tokenUrl")}}
		}
	}
	return s
}
