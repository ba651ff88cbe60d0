package catalog

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

const (
	// maxNumber bounds the digits of a number, and maxExponent its exponent: a few
	// bytes such as 4E31322574 must not become gigabytes of digits.
	maxNumber   = 1024
	maxExponent = 400
	// maxInteger bounds the digits of an integer that is rewritten: enough for
	// any of 64 bits.
	maxInteger = 20
)

// number checks a JSON number and gives it in the form in which tools get it.
// The value never changes: digits are kept, and 1.0 or 1e3 become 1 and 1000, as
// JSON Schema calls them integers and most decoders do not.
func number(text string) (json.Number, error) {
	if len(text) > maxNumber {
		return "", fmt.Errorf("is a number of %d characters, at most %d are allowed", len(text), maxNumber)
	}
	if !strings.ContainsAny(text, ".eE") {
		return json.Number(text), checkRange(text)
	}
	mantissa, exponent, err := splitExponent(text)
	if err != nil {
		return "", err
	}
	if err := checkRange(text); err != nil {
		return "", err
	}
	if integer, ok := asInteger(mantissa, exponent); ok {
		return json.Number(integer), nil
	}
	return json.Number(text), nil
}

func splitExponent(text string) (mantissa string, exponent int, err error) {
	i := strings.IndexAny(text, "eE")
	if i < 0 {
		return text, 0, nil
	}
	exponent, err = strconv.Atoi(text[i+1:])
	if err != nil || exponent > maxExponent || exponent < -maxExponent {
		return "", 0, fmt.Errorf("is a number with the exponent %s, allowed are -%d to %d", cut(text[i+1:], 20), maxExponent, maxExponent)
	}
	return text[:i], exponent, nil
}

// checkRange refuses what would be infinite in any language that reads numbers
// as float64.
func checkRange(text string) error {
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		return fmt.Errorf("is the number %s, which is beyond the range of a float64", cut(text, 40))
	}
	return nil
}

// asInteger writes mantissa * 10^exponent without a point, if it is an integer
// of few digits.
func asInteger(mantissa string, exponent int) (string, bool) {
	sign := ""
	if strings.HasPrefix(mantissa, "-") {
		sign, mantissa = "-", mantissa[1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	point := len(whole) + exponent
	if point < len(digits) && strings.Trim(digits[max(point, 0):], "0") != "" {
		return "", false
	}
	switch {
	case point <= 0:
		digits = ""
	case point < len(digits):
		digits = digits[:point]
	}
	zeros := max(point-len(digits), 0)
	digits = strings.TrimLeft(digits, "0")
	if digits == "" {
		return sign + "0", true
	}
	if len(digits)+zeros > maxInteger {
		return "", false
	}
	return sign + digits + strings.Repeat("0", zeros), true
}
