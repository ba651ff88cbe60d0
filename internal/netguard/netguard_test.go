package netguard_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/netguard"
)

func newClient(t *testing.T, o netguard.Options) *netguard.Client {
	t.Helper()
	c, err := netguard.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func serve(t *testing.T, h http.HandlerFunc) (server *httptest.Server, host string) {
	t.Helper()
	server = httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server, strings.TrimPrefix(server.URL, "http://")
}

func get(t *testing.T, c *netguard.Client, url string) (*http.Response, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return do(c, req)
}

func do(c *netguard.Client, req *http.Request) (*http.Response, string, error) {
	response, err := c.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response, string(text), err
}

func TestRefusedBeforeAnythingIsSent(t *testing.T) {
	c := newClient(t, netguard.Options{Allow: []string{"127.0.0.1:1"}})
	for _, target := range []string{
		"http://example.com/", "ftp://example.com/", "https://user:pw@example.com/", "https:///x",
		"https://127.0.0.1/", "http://127.0.0.1:2/", "https://10.1.2.3/", "https://172.31.0.1/", "https://192.168.0.1/", "https://169.254.169.254/latest",
		"https://100.64.0.1/", "https://100.100.100.200/", "https://168.63.129.16/", "https://0.0.0.0/", "https://255.255.255.255/", "https://224.0.0.1/",
		"https://[::1]/", "https://[::]/", "https://[::ffff:127.0.0.1]/", "https://[::ffff:a9fe:a9fe]/", "https://[::127.0.0.1]/",
		"https://[fd00:ec2::254]/", "https://[fe80::1]/", "https://[fe80::1%25eth0]/", "https://[2001:4860::1%25eth0]/", "https://[ff02::1]/", "https://[fec0::1]/",
		"https://[64:ff9b::7f00:1]/", "https://[64:ff9b::169.254.169.254]/", "https://[64:ff9b:1::1]/", "https://[2002:7f00:1::]/", "https://[2001:0:1::1]/",
		"https://localhost/",
	} {
		t.Run(target, func(t *testing.T) {
			_, _, err := get(t, c, target)
			var refused *netguard.RefusedError
			var unsent *netguard.NotSentError
			if !errors.As(err, &refused) || !errors.As(err, &unsent) {
				t.Fatalf("error is %v, want a RefusedError in a NotSentError", err)
			}
			if refused.Reason == "" || strings.Contains(err.Error(), "pw") {
				t.Errorf("error is %q", err)
			}
		})
	}
}

func TestPublicAddressesPass(t *testing.T) {
	c := newClient(t, netguard.Options{})
	for _, target := range []string{"https://8.8.8.8/", "https://[2606:4700::1111]/", "https://[64:ff9b::8.8.8.8]/", "https://[::ffff:8.8.8.8]/", "https://172.32.0.1/", "https://example.com:8443/"} {
		u, err := url.Parse(target)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Check(u); err != nil {
			t.Errorf("%s: %v", target, err)
		}
	}
}

func TestAllowedHost(t *testing.T) {
	_, host := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.UserAgent()) })
	_, port, _ := net.SplitHostPort(host)
	for _, allow := range []string{host, "127.0.0.1", "localhost", "LOCALHOST:" + port} {
		name, _, _ := strings.Cut(strings.ToLower(allow), ":")
		_, text, err := get(t, newClient(t, netguard.Options{Allow: []string{allow}}), "http://"+name+":"+port)
		if err != nil || text != "heddle" {
			t.Errorf("allowed %s: got %q, %v", allow, text, err)
		}
	}
	if _, _, err := get(t, newClient(t, netguard.Options{Allow: []string{"127.0.0.1:1"}}), "http://"+host); err == nil {
		t.Error("another port of an allowed host passes")
	}
	for _, bad := range []string{"", "http://x", "x/y", "a b", "u@h", ":80"} {
		if _, err := netguard.New(netguard.Options{Allow: []string{bad}}); err == nil {
			t.Errorf("allowed host %q is accepted", bad)
		}
	}
}

func TestProxyOfTheEnvironmentIsIgnored(t *testing.T) {
	_, proxy := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the proxy was asked") })
	t.Setenv("HTTP_PROXY", "http://"+proxy)
	t.Setenv("http_proxy", "http://"+proxy)
	server, host := serve(t, func(http.ResponseWriter, *http.Request) {})
	if _, _, err := get(t, newClient(t, netguard.Options{Allow: []string{host}}), server.URL); err != nil {
		t.Error(err)
	}
}

func TestRedirects(t *testing.T) {
	var seen http.Header
	other, otherHost := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header
		_, _ = io.WriteString(w, "other")
	})
	home, homeHost := serve(t, nil)
	home.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/same":
			http.Redirect(w, r, "/landed", http.StatusFound)
		case "/other":
			http.Redirect(w, r, other.URL, http.StatusFound)
		case "/private":
			http.Redirect(w, r, "https://169.254.169.254/latest", http.StatusFound)
		case "/plain":
			http.Redirect(w, r, "http://example.com/", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		default:
			seen = r.Header
			_, _ = io.WriteString(w, "landed")
		}
	})
	c := newClient(t, netguard.Options{Allow: []string{homeHost, otherHost}})
	request := func(method, path string) *http.Request {
		req, err := http.NewRequestWithContext(t.Context(), method, home.URL+path+"?key=SECRET", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range []string{"Authorization", "X-Api-Key", "Cookie"} {
			req.Header.Set(h, "SECRET")
		}
		req.Header.Set("Accept", "text/plain")
		return req
	}
	if _, text, err := do(c, request("GET", "/same")); err != nil || text != "landed" || seen.Get("X-Api-Key") != "SECRET" {
		t.Errorf("same origin: %q, %v, headers %v", text, err, seen)
	}
	if _, text, err := do(c, request("GET", "/other")); err != nil || text != "other" || seen.Get("Accept") != "text/plain" {
		t.Errorf("other origin: %q, %v, headers %v", text, err, seen)
	}
	for name, values := range seen {
		if strings.Contains(strings.Join(values, " "), "SECRET") {
			t.Errorf("another origin sees %s: %v", name, values)
		}
	}
	for _, path := range []string{"/private", "/plain", "/loop"} {
		_, _, err := do(c, request("GET", path))
		var refused *netguard.RefusedError
		var unsent *netguard.NotSentError
		if !errors.As(err, &refused) || errors.As(err, &unsent) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: error is %v, want a RefusedError that says nothing of not being sent", path, err)
		}
	}
	response, _, err := do(c, request("POST", "/same"))
	if err != nil || response.StatusCode != http.StatusFound {
		t.Errorf("a write: %v, %v; want the redirect itself", response, err)
	}
}

func TestBodyIsBoundedAfterDecompression(t *testing.T) {
	var squeezed bytes.Buffer
	z := gzip.NewWriter(&squeezed)
	_, _ = z.Write(make([]byte, 1<<20))
	_ = z.Close()
	server, host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(squeezed.Bytes())
		case "/br":
			w.Header().Set("Content-Encoding", "br")
		default:
			_, _ = io.WriteString(w, strings.Repeat("x", 1000))
		}
	})
	c := newClient(t, netguard.Options{Allow: []string{host}, MaxBody: 1000})
	if _, text, err := get(t, c, server.URL); err != nil || len(text) != 1000 {
		t.Errorf("as long as allowed: %d bytes, %v", len(text), err)
	}
	_, text, err := get(t, c, server.URL+"/gzip")
	var tooLarge *netguard.TooLargeError
	if !errors.As(err, &tooLarge) || tooLarge.Limit != 1000 || len(text) != 1000 {
		t.Errorf("bomb: %d bytes, %v", len(text), err)
	}
	if _, _, err := get(t, c, server.URL+"/br"); err == nil || !strings.Contains(err.Error(), `"br"`) {
		t.Errorf("unknown encoding: %v", err)
	}
}

func TestTimeIsBoundedToTheLastByte(t *testing.T) {
	server, host := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "begin")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	c := newClient(t, netguard.Options{Allow: []string{host}, Timeout: 8 * time.Second})
	if _, text, err := get(t, c, server.URL); !errors.Is(err, context.DeadlineExceeded) || text != "begin" {
		t.Errorf("got %q, %v, want the deadline's error", text, err)
	}
}

func TestNotSent(t *testing.T) {
	const closed = "127.0.0.1:1" // no system gives this port to whoever asks for any
	plain, plainHost := serve(t, func(http.ResponseWriter, *http.Request) {})
	reset, resetHost := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := w.(http.Hijacker).Hijack()
		_ = conn.Close()
	})
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	c := newClient(t, netguard.Options{Allow: []string{closed, plainHost, resetHost, strings.TrimPrefix(secure.URL, "https://")}})
	for _, tt := range []struct {
		name, url string
		unsent    bool
	}{
		{"nobody listens", "http://" + closed, true},
		{"no such name", "https://nothing.invalid/", true},
		{"no TLS there", strings.Replace(plain.URL, "http:", "https:", 1), true},
		{"unknown certificate", secure.URL, true},
		{"reset after sending", reset.URL, false},
	} {
		_, _, err := get(t, c, tt.url)
		var unsent *netguard.NotSentError
		if err == nil || errors.As(err, &unsent) != tt.unsent {
			t.Errorf("%s: error is %v, of type NotSentError: %v, want %v", tt.name, err, !tt.unsent, tt.unsent)
		}
		if tt.name == "no such name" && strings.Contains(err.Error(), " on ") {
			t.Errorf("the error names the resolver: %v", err)
		}
	}
}

// TestServerThatIsGone: a write that cannot go over the connection that was kept, since
// the server is gone, and that finds nobody on another one, has not left.
func TestServerThatIsGone(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	client, err := netguard.New(netguard.Options{Allow: []string{server.Listener.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	kept := 0
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
		if c.Reused { // it ends after it was chosen, and before anything is written
			kept++
			_ = server.Listener.Close()
			_ = c.Conn.Close()
		}
	}})
	post := func() error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(req)
		if err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		}
		return err
	}
	if err := post(); err != nil {
		t.Fatal(err)
	}
	var unsent *netguard.NotSentError
	if err := post(); kept != 1 || !errors.As(err, &unsent) {
		t.Errorf("after %d kept connections the error is %v, want a NotSentError", kept, err)
	}
}
