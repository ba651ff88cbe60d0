package encryption

import (
	"net"
	"net/http"
	"slices"
	"strings"

	"go.temporal.io/sdk/converter"
)

// maxRequest bounds a request to the endpoint, in bytes.
const maxRequest = 32 << 20

// Endpoint serves a codec to the Temporal UI and CLI at the paths /decode and /encode
// (https://docs.temporal.io/codec-server): whoever reaches it can read what is
// encrypted. It answers pages of the given origins alone, such as
// http://localhost:8233, and requests to a loopback address or name alone, so that no
// page in a browser on the same machine can ask it under a name of its own.
func (c *Codec) Endpoint(origins ...string) http.Handler {
	handler := converter.NewPayloadCodecHTTPHandler(c)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLoopback(r.Host) {
			http.Error(w, "this endpoint is asked by a loopback address", http.StatusForbidden)
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" {
			if !slices.Contains(origins, strings.TrimSuffix(origin, "/")) {
				http.Error(w, "pages of this origin may not ask", http.StatusForbidden)
				return
			}
			w.Header().Set("Access-Control-Allow-Origin", origin)
			w.Header().Set("Access-Control-Allow-Methods", "POST, OPTIONS")
			w.Header().Set("Access-Control-Allow-Headers", "Authorization, Content-Type, X-Namespace")
			w.Header().Set("Access-Control-Allow-Credentials", "true")
			w.Header().Add("Vary", "Origin")
		}
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
		handler.ServeHTTP(w, r)
	})
}

func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
