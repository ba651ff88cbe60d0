package oauth

import (
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// TestDowngrade: what was begun with TLS goes on with it, also to hosts that the
// operator allows without.
func TestDowngrade(t *testing.T) {
	network, err := Network([]string{"login.internal"})
	if err != nil {
		t.Fatal(err)
	}
	m := oauthex.AuthServerMeta{
		Issuer: "https://login.internal", AuthorizationEndpoint: "https://login.internal/authorize", TokenEndpoint: "https://login.internal/token",
		CodeChallengeMethodsSupported: []string{"S256"},
	}
	if _, err := readServer(network, m.Issuer, true, m); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]*string{
		"authorization endpoint": &m.AuthorizationEndpoint, "token endpoint": &m.TokenEndpoint,
		"registration endpoint": &m.RegistrationEndpoint, "revocation endpoint": &m.RevocationEndpoint,
	} {
		before := *at
		*at = "http://login.internal/x"
		if _, err := readServer(network, m.Issuer, true, m); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "without TLS") {
			t.Errorf("%s: %v", name, err)
		}
		*at = before
	}
}
