package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/common/searchattribute/sadefs"
)

const (
	defaultNamespace = "default"
	// uiPortOffset is how far the UI's default port is from the frontend's.
	uiPortOffset = 1000
	maxPort      = 65535
)

// startDevFlags are the flags of "server start-dev" as typed.
type startDevFlags struct {
	ip, uiIP                            string
	port, httpPort, uiPort, metricsPort int
	uiPortSet                           bool
	dbFilename                          string
	namespaces                          []string
	searchAttributes                    []string
	dynamicConfig                       []string
	pragmas                             []string
	headless, logConfig                 bool
	uiPublicPath, uiAssetPath           string
	uiCodecEndpoint                     string
	logLevel, logFormat                 string
}

// options are the flags once checked, with names resolved and defaults filled in.
type options struct {
	ip, uiIP                            string // numeric
	port, httpPort, uiPort, metricsPort int    // 0: any free one
	dbFilename                          string // empty: in memory
	namespaces                          []string
	searchAttributes                    map[string]enumspb.IndexedValueType
	dynamicConfig                       dynamicconfig.ConfigValueMap
	warnings                            []string
	pragmas                             map[string]string
	headless, logConfig                 bool
	uiPublicPath, uiAssetPath           string
	uiCodecEndpoint                     string
	logLevel, logFormat                 string
}

// options checks everything that can be checked without touching a port or the
// database, so that a typing error is reported before anything has happened.
func (f *startDevFlags) options() (*options, error) {
	o := &options{
		port: f.port, httpPort: f.httpPort, uiPort: f.uiPort, metricsPort: f.metricsPort,
		dbFilename:      f.dbFilename,
		headless:        f.headless,
		logConfig:       f.logConfig,
		uiAssetPath:     f.uiAssetPath,
		uiCodecEndpoint: f.uiCodecEndpoint,
	}
	if path := strings.Trim(f.uiPublicPath, "/"); path != "" {
		o.uiPublicPath = "/" + path
	}
	// The default UI port follows a chosen frontend port. There is nothing to
	// follow when that one is left to chance, or when the sum is no port.
	if !f.uiPortSet && f.port != 0 && f.port+uiPortOffset <= maxPort {
		o.uiPort = f.port + uiPortOffset
	}
	var err error
	for _, p := range []struct {
		flag string
		port int
	}{{"--port", o.port}, {"--http-port", o.httpPort}, {"--ui-port", o.uiPort}, {"--metrics-port", o.metricsPort}} {
		if p.port < 0 || p.port > maxPort {
			return nil, fmt.Errorf("%s %d is not a port (0 to %d)", p.flag, p.port, maxPort)
		}
	}
	if o.ip, err = resolveIP(f.ip); err != nil {
		return nil, fmt.Errorf("--ip: %w", err)
	}
	o.uiIP = o.ip
	if f.uiIP != "" {
		if o.uiIP, err = resolveIP(f.uiIP); err != nil {
			return nil, fmt.Errorf("--ui-ip: %w", err)
		}
	}
	if o.namespaces, err = parseNamespaces(f.namespaces); err != nil {
		return nil, fmt.Errorf("--namespace: %w", err)
	}
	if o.searchAttributes, err = parseSearchAttributes(f.searchAttributes); err != nil {
		return nil, fmt.Errorf("--search-attribute: %w", err)
	}
	if o.dynamicConfig, o.warnings, err = parseDynamicConfig(f.dynamicConfig); err != nil {
		return nil, fmt.Errorf("--dynamic-config-value: %w", err)
	}
	if o.pragmas, err = parsePragmas(f.pragmas); err != nil {
		return nil, fmt.Errorf("--sqlite-pragma: %w", err)
	}
	if o.logLevel, err = oneOf(f.logLevel, logLevels); err != nil {
		return nil, fmt.Errorf("--log-level: %w", err)
	}
	if o.logFormat, err = oneOf(f.logFormat, logFormats); err != nil {
		return nil, fmt.Errorf("--log-format: %w", err)
	}
	return o, o.checkUI()
}

// checkUI checks what the UI server would otherwise accept and then fail on in
// the browser.
func (o *options) checkUI() error {
	if o.uiCodecEndpoint != "" {
		u, err := url.Parse(o.uiCodecEndpoint)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return fmt.Errorf("--ui-codec-endpoint: %q is not an http or https URL", o.uiCodecEndpoint)
		}
	}
	if o.uiAssetPath != "" {
		if info, err := os.Stat(filepath.Join(o.uiAssetPath, "index.html")); err != nil || info.IsDir() {
			return fmt.Errorf("--ui-asset-path: no index.html in %q", o.uiAssetPath)
		}
	}
	return nil
}

// resolveIP turns a host into the numeric address the server wants to bind.
func resolveIP(host string) (string, error) {
	if ip := net.ParseIP(strings.Trim(host, "[]")); ip != nil {
		return ip.String(), nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(ips) == 0 {
		return "", fmt.Errorf("%q is neither an IP address nor a host name known here", host)
	}
	// IPv4 first: that is what a client dialing the same name tries as well.
	for _, ip := range ips {
		if ip.Unmap().Is4() {
			return ip.Unmap().String(), nil
		}
	}
	return ips[0].String(), nil
}

func parseNamespaces(names []string) ([]string, error) {
	out := []string{defaultNamespace}
	for _, name := range names {
		switch {
		case name == "":
			return nil, errors.New("the name is empty")
		case name == primitives.SystemLocalNamespace:
			return nil, fmt.Errorf("%q belongs to the server itself", name)
		case !slices.Contains(out, name):
			out = append(out, name)
		}
	}
	return out, nil
}

// searchAttributeTypeNames lists the types a custom search attribute can have.
func searchAttributeTypeNames() []string {
	var names []string
	for value := range enumspb.IndexedValueType_name {
		if value != int32(enumspb.INDEXED_VALUE_TYPE_UNSPECIFIED) {
			names = append(names, enumspb.IndexedValueType(value).String())
		}
	}
	slices.Sort(names)
	return names
}

func parseSearchAttributes(pairs []string) (map[string]enumspb.IndexedValueType, error) {
	out := make(map[string]enumspb.IndexedValueType, len(pairs))
	for _, pair := range pairs {
		name, typeName, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%q is not NAME=TYPE", pair)
		}
		if sadefs.IsReserved(name) {
			return nil, fmt.Errorf("%q is reserved by Temporal", name)
		}
		typ, err := enumspb.IndexedValueTypeFromString(typeName)
		if err != nil || typ == enumspb.INDEXED_VALUE_TYPE_UNSPECIFIED {
			return nil, fmt.Errorf("unknown type %q of %q: it must be one of %s",
				typeName, name, strings.Join(searchAttributeTypeNames(), ", "))
		}
		if old, ok := out[name]; ok && old != typ {
			return nil, fmt.Errorf("%q is given both as %s and as %s", name, old, typ)
		}
		out[name] = typ
	}
	return out, nil
}

func parsePragmas(pairs []string) (map[string]string, error) {
	out := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || value == "" {
			return nil, fmt.Errorf("%q is not NAME=VALUE", pair)
		}
		// SQLite ignores a pragma it does not know without a word.
		name = strings.ToLower(name)
		if _, err := oneOf(name, allowedPragmas); err != nil {
			return nil, err
		}
		out[name] = value
	}
	return out, nil
}

func oneOf(value string, allowed []string) (string, error) {
	value = strings.ToLower(value)
	if !slices.Contains(allowed, value) {
		return "", fmt.Errorf("%q is not one of %s", value, strings.Join(allowed, ", "))
	}
	return value, nil
}
