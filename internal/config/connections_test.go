package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heddle-dev/heddle/internal/config"
)

func TestConnections(t *testing.T) {
	for text, want := range map[string]config.Connections{
		"{}": {},
		"{name: Support agents, client_metadata: https://agents.example.com/connections/client.json, allow: [login.internal, '127.0.0.1:8080']}": {
			Name: "Support agents", Document: "https://agents.example.com/connections/client.json", Allow: []string{"login.internal", "127.0.0.1:8080"},
		},
		"{callback: {listen: 127.0.0.1:8790}}": {
			Callback: &config.Callback{Listen: "127.0.0.1:8790", URL: "http://127.0.0.1:8790"},
		},
		"{callback: {listen: '0.0.0.0:8790', url: https://agents.example.com, token: app:connections.token}}": {
			Callback: &config.Callback{Listen: "0.0.0.0:8790", URL: "https://agents.example.com", Token: "app:connections.token"},
		},
		"{callback: {listen: '[::1]:8790', url: http://localhost:8790}}": {
			Callback: &config.Callback{Listen: "[::1]:8790", URL: "http://localhost:8790"},
		},
	} {
		c, err := parseSecrets("connections: " + text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, c.Connections); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestConnectionsThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		"[]":             "connections: want a mapping",
		"{nam: x}":       "connections.nam: unknown field; did you mean name?",
		"{name: [a]}":    "connections.name: want text, found a list",
		"{allow: a.b}":   "connections.allow: want a list",
		"{allow: [' ']}": "connections.allow[0]: is empty",
		"{client_metadata: http://agents.example.com/client.json}":                       "connections.client_metadata: want an https URL with a path",
		"{client_metadata: https://agents.example.com/}":                                 "connections.client_metadata: want an https URL with a path",
		"{callback: 127.0.0.1:8790}":                                                     "connections.callback: want a mapping",
		"{callback: {}}":                                                                 "connections.callback: the field listen is missing",
		"{callback: {listen: '8790'}}":                                                   "connections.callback.listen: want host:port",
		"{callback: {listen: ':8790'}}":                                                  "connections.callback.listen: want host:port",
		"{callback: {listen: '127.0.0.1:'}}":                                             "connections.callback.listen: want host:port",
		"{callback: {listen: '127.0.0.1:8790', url: http://agents.example.com}}":         "connections.callback.url: want an https URL without a path",
		"{callback: {listen: '127.0.0.1:8790', url: https://agents.example.com/a}}":      "connections.callback.url: want an https URL without a path",
		"{callback: {listen: '127.0.0.1:8790', url: https://ann:pw@agents.example.com}}": "connections.callback.url: want an https URL without a path",
		"{callback: {listen: '127.0.0.1:8790', token: 'app:a b'}}":                       "connections.callback.token: ",
		"{callback: {listen: '127.0.0.1:8790', tokn: x}}":                                "connections.callback.tokn: unknown field; did you mean token?",
	} {
		if _, err := parseSecrets("connections: " + text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
