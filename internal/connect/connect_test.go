package connect

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
)

// isolate keeps the environment of the person who runs the tests out of them.
func isolate(t *testing.T, profiles string, env map[string]string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "temporal.toml")
	if err := os.WriteFile(file, []byte(profiles), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "TEMPORAL_") {
			t.Setenv(name, "") // so that it comes back after the test
			if err := os.Unsetenv(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Setenv("TEMPORAL_CONFIG_FILE", file)
	for name, value := range env {
		t.Setenv(name, value)
	}
}

const profiles = `
[profile.default]
address = "default-profile:7233"
[profile.eu]
address = "eu-profile:7233"
namespace = "eu"
[profile.us]
address = "us-profile:7233"
`

func TestOptionsDecideInOrder(t *testing.T) {
	tests := []struct {
		name               string
		profiles           string
		env                map[string]string
		explicit, fallback Target
		address, namespace string
	}{
		{"nothing", "", nil, Target{}, Target{}, "localhost:7233", "default"},
		{"fallback", "", nil, Target{}, Target{Address: "yaml:1", Namespace: "y"}, "yaml:1", "y"},
		{"profile over fallback", profiles, nil, Target{}, Target{Address: "yaml:1", Namespace: "y"}, "default-profile:7233", "y"},
		{"fallback names a profile", profiles, nil, Target{}, Target{Profile: "eu"}, "eu-profile:7233", "eu"},
		{
			"environment names another profile", profiles,
			map[string]string{"TEMPORAL_PROFILE": "us"},
			Target{},
			Target{Profile: "eu", Namespace: "y"},
			"us-profile:7233", "y",
		},
		{
			"explicit names a third", profiles,
			map[string]string{"TEMPORAL_PROFILE": "us"},
			Target{Profile: "eu"},
			Target{},
			"eu-profile:7233", "eu",
		},
		{
			"environment over profile", profiles,
			map[string]string{"TEMPORAL_ADDRESS": "env:1", "TEMPORAL_NAMESPACE": "e"},
			Target{},
			Target{Profile: "eu"},
			"env:1", "e",
		},
		{
			"explicit over all", profiles,
			map[string]string{"TEMPORAL_ADDRESS": "env:1", "TEMPORAL_NAMESPACE": "e"},
			Target{Address: "flag:1", Namespace: "f"},
			Target{Address: "yaml:1"},
			"flag:1", "f",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			isolate(t, test.profiles, test.env)
			got, err := Options(test.explicit, test.fallback)
			if err != nil {
				t.Fatal(err)
			}
			if got.HostPort != test.address || got.Namespace != test.namespace {
				t.Errorf("%s, %s; want %s, %s", got.HostPort, got.Namespace, test.address, test.namespace)
			}
		})
	}
}

func TestOptionsTakeTheKeyFromTheEnvironment(t *testing.T) {
	isolate(t, "", map[string]string{"TEMPORAL_API_KEY": "secret"})
	got, err := Options(Target{}, Target{})
	if err != nil {
		t.Fatal(err)
	}
	if got.Credentials == nil {
		t.Error("no credentials, want the API key")
	}
}

func TestOptionsRefuse(t *testing.T) {
	tests := []struct {
		name, profiles string
		env            map[string]string
		target         Target
		want           string
	}{
		{"unknown profile", profiles, nil, Target{Profile: "mars"}, "mars"},
		{"unknown key", "[profile.default]\nadress = 'x'\n", nil, Target{}, "adress"},
		{"no certificate", "", map[string]string{"TEMPORAL_TLS_CLIENT_CERT_PATH": "/none"}, Target{}, "client"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			isolate(t, test.profiles, test.env)
			if _, err := Options(test.target, Target{}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Options: %v, want one that names %q", err, test.want)
			}
		})
	}
}

func TestDialSaysThatNoServerAnswers(t *testing.T) {
	const address = "127.0.0.1:1" // no system gives this port to whoever asks for any
	_, err := Dial(t.Context(), client.Options{HostPort: address, Namespace: "default"}, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), address) || !strings.Contains(err.Error(), "TEMPORAL_ADDRESS") {
		t.Errorf("Dial: %v, want the address and what to set", err)
	}
}

func TestExplain(t *testing.T) {
	options := client.Options{HostPort: "temporal:7233", Namespace: "prod"}
	for want, err := range map[string]error{
		"temporal operator namespace create --namespace prod": serviceerror.NewNamespaceNotFound("prod"),
		"refuses the credentials for namespace \"prod\"":      serviceerror.NewPermissionDenied("no", ""),
		"no Temporal server answers at temporal:7233":         context.DeadlineExceeded,
		"namespace \"prod\": strange":                         errors.New("strange"),
	} {
		got := explain(err, options)
		if !strings.Contains(got.Error(), want) {
			t.Errorf("explain(%v) = %q, want %q in it", err, got, want)
		}
		if !errors.Is(got, err) {
			t.Errorf("explain(%v) does not wrap it", err)
		}
	}
}

func TestLocalUI(t *testing.T) {
	for address, want := range map[string]string{
		"localhost:7233":      "http://localhost:8233",
		"127.0.0.1:7233":      "http://127.0.0.1:8233",
		"[::1]:7233":          "http://[::1]:8233",
		"127.0.0.1:40123":     "http://127.0.0.1:41123",
		"localhost:64535":     "http://localhost:65535",
		"localhost:64536":     "",
		"localhost:0":         "",
		"localhost:grpc":      "",
		"localhost:":          "",
		"temporal.corp:7233":  "",
		"10.0.0.7:7233":       "",
		"localhost":           "",
		"localhost.evil:7233": "",
	} {
		if got := LocalUI(address); got != want {
			t.Errorf("LocalUI(%s) = %q, want %q", address, got, want)
		}
	}
}
