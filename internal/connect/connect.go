package connect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"os"
	"strconv"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/log"
)

// timeout bounds the first exchange with the server. One that stands still for some
// seconds is waited for; one that does not listen is found out at once.
const timeout = 30 * time.Second

// Target names a server and a namespace in it. An empty field says nothing.
type Target struct {
	Address   string
	Namespace string
	// Profile is the name of a profile in temporal.toml.
	Profile string
}

// Options resolves where to connect to: explicit wins over the environment and
// the profile, which win over fallback.
func Options(explicit, fallback Target) (client.Options, error) {
	profileName := explicit.Profile
	if profileName == "" && os.Getenv("TEMPORAL_PROFILE") == "" {
		profileName = fallback.Profile
	}
	profile, err := envconfig.LoadClientConfigProfile(envconfig.LoadClientConfigProfileOptions{
		ConfigFileProfile: profileName,
		ConfigFileStrict:  true,
	})
	if err != nil {
		return client.Options{}, fmt.Errorf("connection to Temporal: %w", err)
	}
	profile.Address = cmp.Or(explicit.Address, profile.Address, fallback.Address, client.DefaultHostPort)
	profile.Namespace = cmp.Or(explicit.Namespace, profile.Namespace, fallback.Namespace, client.DefaultNamespace)
	options, err := profile.ToClientOptions(envconfig.ToClientOptionsRequest{})
	if err != nil {
		return client.Options{}, fmt.Errorf("connection to Temporal: %w", err)
	}
	return options, nil
}

// Dial connects, and checks that the server answers and has the namespace.
func Dial(ctx context.Context, options client.Options, logger *slog.Logger) (client.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	options.Logger = log.NewStructuredLogger(logger)
	options.ConnectionOptions.GetSystemInfoTimeout = timeout
	c, err := client.DialContext(ctx, options)
	if err != nil {
		return nil, explain(err, options)
	}
	_, err = c.WorkflowService().DescribeNamespace(ctx,
		&workflowservice.DescribeNamespaceRequest{Namespace: options.Namespace})
	if err != nil {
		c.Close()
		return nil, explain(err, options)
	}
	return c, nil
}

// explain says what to do about a server that cannot be used.
func explain(err error, options client.Options) error {
	var (
		noNamespace *serviceerror.NamespaceNotFound
		denied      *serviceerror.PermissionDenied
		unavailable *serviceerror.Unavailable
		late        *serviceerror.DeadlineExceeded
	)
	switch {
	case errors.As(err, &noNamespace):
		return fmt.Errorf("the Temporal server at %s has no namespace %q; create it with "+
			"temporal operator namespace create --namespace %s, or set TEMPORAL_NAMESPACE: %w",
			options.HostPort, options.Namespace, options.Namespace, err)
	case errors.As(err, &denied):
		return fmt.Errorf("the Temporal server at %s refuses the credentials for namespace %q; "+
			"check TEMPORAL_API_KEY or the TLS certificate: %w", options.HostPort, options.Namespace, err)
	case errors.As(err, &unavailable), errors.As(err, &late), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no Temporal server answers at %s; start one with "+
			"temporal server start-dev, or set TEMPORAL_ADDRESS: %w", options.HostPort, err)
	default:
		return fmt.Errorf("the Temporal server at %s, namespace %q: %w", options.HostPort, options.Namespace, err)
	}
}

// LocalUI is where the Temporal UI of a local development server is, or empty
// when the server is elsewhere. The UI's address cannot be asked for; a development
// server puts it on the same host, [uiPortDistance] ports above its own.
func LocalUI(address string) string {
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil || port == 0 || port+uiPortDistance > math.MaxUint16 {
		return ""
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return "http://" + net.JoinHostPort(host, strconv.FormatUint(port+uiPortDistance, 10))
	}
	return ""
}

// uiPortDistance is how far the UI's port is from the server's, such as 8233 from
// 7233.
const uiPortDistance = 1000
