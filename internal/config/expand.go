package config

import (
	"fmt"
	"strings"
)

// Lookup finds an environment variable, as [os.LookupEnv] does.
type Lookup func(name string) (string, bool)

// expand replaces ${NAME} and ${NAME:-default} by the variable's value; the
// default stands for one that is unset or empty. $${ stands for ${ itself.
func expand(text string, env Lookup) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		if !found {
			b.WriteString(text)
			return b.String(), nil
		}
		if strings.HasSuffix(before, "$") {
			b.WriteString(before + "{")
			text = rest
			continue
		}
		b.WriteString(before)
		expression, after, closed := strings.Cut(rest, "}")
		if !closed {
			return "", fmt.Errorf("${ is not closed by }; write $${ for a literal ${")
		}
		name, fallback, hasFallback := strings.Cut(expression, ":-")
		if !isEnvName(name) {
			return "", fmt.Errorf("${%s} names no environment variable; want ${NAME} or ${NAME:-default}", expression)
		}
		value, set := env(name)
		switch {
		case value != "":
			b.WriteString(value)
		case hasFallback:
			b.WriteString(fallback)
		case !set:
			return "", fmt.Errorf("the environment variable %s is not set; set it, or write ${%s:-default}", name, name)
		}
		text = after
	}
}

func isEnvName(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}
