package config

import (
	"net"
	"net/url"

	"github.com/heddle-dev/heddle/catalog"
)

// Connections say how people let this side into services.
type Connections struct {
	// Name is shown to the person who is asked for consent. Empty: the usual one.
	Name string
	// Document is the URL of a client id metadata document about this side.
	Document string
	// Allow are hosts of authorization servers that may be reached by plain HTTP and at
	// private addresses.
	Allow []string
	// Callback is where people come back to from consent, at the worker. Nil: nowhere.
	Callback *Callback
}

// Callback is the HTTP endpoint of a worker for connections.
type Callback struct {
	// Listen is the address, host:port.
	Listen string
	// URL is how browsers reach it, without a path. Empty: http:// and Listen.
	URL string
	// Token refers to the secret that a backend shows to begin. Empty: nobody may, and
	// people come back from what agents have asked them alone.
	Token string
}

func readConnections(v value) Connections {
	var c Connections
	v.fields(
		field{name: "name", read: func(v value) { c.Name = v.text() }},
		field{name: "client_metadata", read: func(v value) {
			c.Document = v.filled()
			if u, err := url.Parse(c.Document); c.Document != "" && (err != nil || u.Scheme != "https" || u.Host == "" || u.Path == "" || u.Path == "/") {
				v.problem("want an https URL with a path, such as https://agents.example.com/connections/client.json")
			}
		}},
		field{name: "allow", read: func(v value) {
			v.list(func(v value) {
				if host := v.filled(); host != "" {
					c.Allow = append(c.Allow, host)
				}
			})
		}},
		field{name: "callback", read: func(v value) { c.Callback = readCallback(v) }},
	)
	return c
}

func readCallback(v value) *Callback {
	var c Callback
	v.fields(
		field{name: "listen", required: true, read: func(v value) {
			c.Listen = v.filled()
			if host, port, err := net.SplitHostPort(c.Listen); c.Listen != "" && (err != nil || port == "" || host == "") {
				v.problem("want host:port, such as 127.0.0.1:8790; 0.0.0.0 is all of the machine's addresses")
			}
		}},
		field{name: "url", read: func(v value) {
			c.URL = v.filled()
			u, err := url.Parse(c.URL)
			if c.URL != "" && (err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Path != "" || u.Scheme != "https" && !local(u)) {
				v.problem("want an https URL without a path, such as https://agents.example.com; plain http on loopback alone")
			}
		}},
		field{name: "token", read: func(v value) {
			c.Token = v.text()
			if _, err := catalog.ParseSecretRef(c.Token); c.Token != "" && err != nil {
				v.problem("%s", err)
			}
		}},
	)
	if c.URL == "" {
		c.URL = "http://" + c.Listen
	}
	return &c
}

// local reports whether a URL is of this machine, by plain HTTP.
func local(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}
