package heddle_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/heddle-dev/heddle/internal/config"
	"github.com/heddle-dev/heddle/signals/contract"
)

// composeFile is what these tests read of docker-compose.yml.
type composeFile struct {
	Services map[string]composeService
	Volumes  map[string]any
}

type composeService struct {
	Image           string
	Build           *struct{ Context, Dockerfile string }
	Environment     map[string]string
	Volumes         []string
	Ports           []string
	HealthCheck     any                                   `yaml:"healthcheck"`
	DependsOn       map[string]struct{ Condition string } `yaml:"depends_on"`
	StopGracePeriod string                                `yaml:"stop_grace_period"`
}

func TestComposeFitsTogether(t *testing.T) {
	compose := readCompose(t)
	for name, service := range compose.Services {
		for other, dependency := range service.DependsOn {
			on, ok := compose.Services[other]
			if !ok {
				t.Errorf("%s depends on %s, which is no service", name, other)
			}
			if dependency.Condition == "service_healthy" && on.HealthCheck == nil {
				t.Errorf("%s waits until %s is healthy, which has no health check", name, other)
			}
		}
		for _, volume := range service.Volumes {
			source, _, _ := strings.Cut(volume, ":")
			if _, named := compose.Volumes[source]; named {
				continue
			}
			if _, err := os.Stat(source); err != nil {
				t.Errorf("%s mounts %s, which is neither a volume nor a file", name, source)
			}
		}
		for _, port := range service.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s publishes %s: nothing here has authentication, so it must stay on loopback", name, port)
			}
		}
		if service.Build != nil {
			if _, err := os.Stat(filepath.Join(service.Build.Context, service.Build.Dockerfile)); err != nil {
				t.Errorf("%s is built from a file that is not there: %v", name, err)
			}
		} else if !regexp.MustCompile(`:\d+\.\d+`).MatchString(service.Image) {
			t.Errorf("%s runs the image %q, want a version", name, service.Image)
		}
	}
}

// TestComposeWorkerIsConfigured loads the configuration that the worker gets.
func TestComposeWorkerIsConfigured(t *testing.T) {
	worker := readCompose(t).Services["worker"]
	configuration, err := config.Load("deploy/heddle.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, model := range configuration.Models {
		if _, ok := worker.Environment[model.APIKeyEnv]; !ok {
			t.Errorf("model %s wants its key in %s, which the worker does not get", model.Name, model.APIKeyEnv)
		}
	}
	grace, err := time.ParseDuration(worker.StopGracePeriod)
	if err != nil {
		t.Fatal(err)
	}
	if grace <= configuration.StopTimeout {
		t.Errorf("the worker is killed after %v, before its activities' stop_timeout of %v has passed", grace, configuration.StopTimeout)
	}
	shared := false
	for _, volume := range worker.Volumes {
		shared = shared || volume == "blobs:"+configuration.Blobs
	}
	if !shared {
		t.Errorf("blobs are stored in %s, which no shared volume holds", configuration.Blobs)
	}
}

func TestComposeScripts(t *testing.T) {
	scripts, err := filepath.Glob("deploy/temporal/*.sh")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no script was found: %v", err)
	}
	for _, script := range scripts {
		if out, err := exec.CommandContext(t.Context(), "sh", "-n", script).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", script, err, out)
		}
	}
	text := readText(t, "deploy/temporal/namespace.sh")
	for attribute, kind := range map[string]string{
		contract.AttributeTenant:  "Keyword",
		contract.AttributeAgent:   "Keyword",
		contract.AttributeStatus:  "Keyword",
		contract.AttributePending: "KeywordList",
	} {
		if !regexp.MustCompile(`--name ` + attribute + ` --type ` + kind + `\b`).MatchString(text) {
			t.Errorf("namespace.sh does not create the search attribute %s of type %s", attribute, kind)
		}
	}
}

func readCompose(t *testing.T) composeFile {
	t.Helper()
	var compose composeFile
	if err := yaml.Unmarshal([]byte(readText(t, "docker-compose.yml")), &compose); err != nil {
		t.Fatal(yaml.FormatError(err, false, true))
	}
	if len(compose.Services) == 0 {
		t.Fatal("docker-compose.yml has no services")
	}
	return compose
}
