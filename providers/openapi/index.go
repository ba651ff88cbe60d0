package openapi

import (
	"errors"
	"fmt"
	"strings"
)

// dialect is what the kinds of specification differ in.
type dialect int

const (
	swagger2  dialect = iota
	openapi30         // schemas of their own kind, with nullable
	openapi31         // JSON Schema 2020-12; also 3.2
)

// maxOperations bounds the operations of a specification.
const maxOperations = 50_000

// methods are those that an operation can have, with whether they only read.
var methods = map[string]bool{
	"get": true, "head": true, "options": true,
	"put": false, "post": false, "delete": false, "patch": false,
}

// operation is one operation as the list knows it.
type operation struct {
	method string // in upper case
	path   string
	// item and self are where the path's and the operation's own members are.
	item, self  place
	operationID string
	tag         string
	summary     string
	description string
	deprecated  bool
}

// key names the operation, whatever it is called.
func (o *operation) key() string { return o.method + " " + o.path }

// reads reports whether the method only reads.
func (o *operation) reads() bool { return methods[strings.ToLower(o.method)] }

// index reads what stands at the root.
func (s *Spec) index() error {
	root := s.home.open("", s.home.root)
	switch version, isSwagger := root["swagger"], root["swagger"] != nil; {
	case isSwagger:
		s.dialect, s.Version = swagger2, strings.Trim(string(version), `"`)
	case root["openapi"] == nil:
		return errors.New(`is no OpenAPI specification: it has neither "openapi" nor "swagger" at its root`)
	default:
		s.Version = strings.Trim(string(root["openapi"]), `"`)
		s.dialect = openapi31
		if strings.HasPrefix(s.Version, "3.0") {
			s.dialect = openapi30
		}
		if !strings.HasPrefix(s.Version, "3.") {
			return fmt.Errorf("is OpenAPI %.20s; 2.0 and 3.x are known", s.Version)
		}
	}
	home := place{s.home, "", s.home.root}
	s.Title = objectOf(root["info"]).text("title")
	s.security = home.child("security", root["security"])
	s.servers = home.child("servers", root["servers"])
	return nil
}

// list lists the operations.
func (s *Spec) list() {
	root := s.home.open("", s.home.root)
	if hooks := root["webhooks"]; len(members(hooks)) > 0 {
		s.skip(place{s.home, "/webhooks", hooks}, "the service calls these, and nobody else; they make no tools")
	}
	if root["paths"] == nil {
		return
	}
	paths, err := s.resolve(place{s.home, "/paths", root["paths"]})
	if err != nil {
		s.skip(place{s.home, "/paths", nil}, err.Error())
		return
	}
	for _, m := range members(paths.value) {
		if strings.HasPrefix(m.key, "x-") {
			continue
		}
		item := paths.child(m.key, m.value)
		if !strings.HasPrefix(m.key, "/") {
			s.skip(item, "a path must begin with /")
			continue
		}
		s.listPath(m.key, item)
	}
}

func (s *Spec) listPath(path string, item place) {
	at := item
	item, err := s.resolve(item)
	if err != nil {
		s.skip(at, err.Error())
		return
	}
	if len(item.value) == 0 || item.value[0] != '{' {
		s.skip(item, "is "+kindOf(item.value)+", want an object")
		return
	}
	for _, m := range members(item.value) {
		if m.key == "trace" || m.key == "query" || m.key == "additionalOperations" {
			s.lost++
			s.skip(item.child(m.key, m.value), "the method is not supported")
			continue
		}
		if _, known := methods[m.key]; !known {
			continue
		}
		self, err := s.resolve(item.child(m.key, m.value))
		if err != nil {
			s.lost++
			s.skip(item.child(m.key, m.value), err.Error())
			continue
		}
		if len(self.value) == 0 || self.value[0] != '{' {
			s.lost++
			s.skip(self, "is "+kindOf(self.value)+", want an object")
			continue
		}
		if len(s.operations) == maxOperations {
			s.lost++
			s.skip(self, fmt.Sprintf("a specification has at most %d operations", maxOperations))
			continue
		}
		s.add(path, strings.ToUpper(m.key), item, self)
	}
}

func (s *Spec) add(path, method string, item, self place) {
	o := &operation{method: method, path: path, item: item, self: self}
	for _, m := range members(self.value) {
		switch m.key {
		case "operationId":
			o.operationID = unquote(m.value)
		case "summary":
			o.summary = unquote(m.value)
		case "description":
			o.description = unquote(m.value)
		case "deprecated":
			o.deprecated = string(m.value) == "true"
		case "tags":
			if tags := elements(m.value); len(tags) > 0 {
				o.tag = unquote(tags[0])
			}
		}
	}
	if i, twice := s.byKey[o.key()]; twice {
		s.lost++
		s.skip(s.operations[i].self, "the same path and method follow once more, and the last counts")
		s.operations[i] = o
		return
	}
	s.byKey[o.key()] = len(s.operations)
	s.operations = append(s.operations, o)
}

func (s *Spec) skip(p place, reason string) {
	pointer := "/paths"
	if p.doc != nil {
		pointer = p.where(s.home)
	}
	s.skipped = append(s.skipped, Note{Pointer: pointer, Reason: reason})
}
