package check

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/codemode/schema"
)

const (
	// maxDigits and maxExponent bound a number that is reckoned with: a few bytes
	// such as 4E31322574 must not become gigabytes of digits.
	maxDigits   = 400
	maxExponent = 400
)

// rational is the exact value of a JSON number, nil if it is beyond the bounds.
func rational(text string) *big.Rat {
	if len(text) > maxDigits {
		return nil
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		exponent, err := strconv.Atoi(text[i+1:])
		if err != nil || exponent > maxExponent || exponent < -maxExponent {
			return nil
		}
	}
	value, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil
	}
	return value
}

// limitOf is the value of a keyword that holds a number, nil for any other.
func limitOf(v *schema.Value) *big.Rat {
	if !v.Is(schema.Number) {
		return nil
	}
	return rational(v.Text)
}

// below says whether a value is less than a keyword's, which limit is.
func below(v *schema.Value, value *big.Rat) (limit string, is bool) {
	bound := limitOf(v)
	if bound == nil {
		return "", false
	}
	return v.Text, value.Cmp(bound) < 0
}

// above says whether a value is greater than a keyword's, which limit is.
func above(v *schema.Value, value *big.Rat) (limit string, is bool) {
	bound := limitOf(v)
	if bound == nil {
		return "", false
	}
	return v.Text, value.Cmp(bound) > 0
}

// fractional says whether a number is certainly no integer.
func fractional(text string) bool {
	value := rational(text)
	return value != nil && !value.IsInt()
}

// sameNumber says whether two numbers may be the same.
func sameNumber(a, b string) bool {
	x, y := rational(a), rational(b)
	return x == nil || y == nil || x.Cmp(y) == 0
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil && strings.Trim(text, "-0123456789.eE+") == ""
}
