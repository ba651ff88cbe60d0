package sandbox

import (
	"crypto"
	_ "crypto/sha1" // for crypto.subtle.digest: scripts ask for it, nothing relies on it
	_ "crypto/sha256"
	_ "crypto/sha512"
	"encoding/base64"
	"math/big"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // a child can read no files
	"unicode/utf8"

	"github.com/dop251/goja"
	"golang.org/x/text/collate"
	"golang.org/x/text/language"
)

// natives are what the prelude leaves to Go because JavaScript is slow or lost at
// it. They take and give strings, numbers and buffers; undefined says that the
// argument is not valid.
func (x *execution) natives() map[string]func(goja.FunctionCall) goja.Value {
	return map[string]func(goja.FunctionCall) goja.Value{
		"utf8":             x.utf8,
		"text":             x.decodeText,
		"toBase64":         x.toBase64,
		"fromBase64":       x.fromBase64,
		"digest":           x.digest,
		"unescape":         x.unescape,
		"parse":            x.parse,
		"parseURL":         x.parseURL,
		"zone":             x.zone,
		"collator":         x.collator,
		"decimal":          x.decimal,
		"expandProperties": x.expandProperties,
	}
}

// parse makes a value of JSON.
func (x *execution) parse(call goja.FunctionCall) goja.Value {
	if value, ok := parse(x.rt, call.Argument(0).String()); ok {
		return value
	}
	return goja.Undefined()
}

// utf8 encodes a string.
func (x *execution) utf8(call goja.FunctionCall) goja.Value {
	return x.rt.ToValue(x.rt.NewArrayBuffer([]byte(call.Argument(0).String())))
}

// window is the part of an ArrayBuffer that the arguments from n on describe:
// buffer, offset, length.
func window(call goja.FunctionCall, n int) []byte {
	buffer, ok := call.Argument(n).Export().(goja.ArrayBuffer)
	if !ok {
		return nil
	}
	data := buffer.Bytes()
	from := min(max(call.Argument(n+1).ToInteger(), 0), int64(len(data)))
	length := min(max(call.Argument(n+2).ToInteger(), 0), int64(len(data))-from)
	return data[from : from+length]
}

// decodeText decodes UTF-8: buffer, offset, length, fatal.
func (x *execution) decodeText(call goja.FunctionCall) goja.Value {
	data := window(call, 0)
	if call.Argument(3).ToBoolean() && !utf8.Valid(data) {
		return goja.Undefined()
	}
	return x.rt.ToValue(strings.ToValidUTF8(string(data), "\ufffd"))
}

// toBase64 is btoa: each character is a byte.
func (x *execution) toBase64(call goja.FunctionCall) goja.Value {
	text := call.Argument(0).String()
	data := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xFF {
			return goja.Undefined()
		}
		data = append(data, byte(r))
	}
	return x.rt.ToValue(base64.StdEncoding.EncodeToString(data))
}

// fromBase64 is atob.
func (x *execution) fromBase64(call goja.FunctionCall) goja.Value {
	text := strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\n\f\r", r) {
			return -1
		}
		return r
	}, call.Argument(0).String())
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return goja.Undefined()
	}
	var decoded strings.Builder
	for _, b := range data {
		decoded.WriteRune(rune(b))
	}
	return x.rt.ToValue(decoded.String())
}

var hashes = map[string]crypto.Hash{
	"SHA-1": crypto.SHA1, "SHA-256": crypto.SHA256, "SHA-384": crypto.SHA384, "SHA-512": crypto.SHA512,
}

// digest hashes: algorithm, buffer, offset, length.
func (x *execution) digest(call goja.FunctionCall) goja.Value {
	algorithm, ok := hashes[call.Argument(0).String()]
	if !ok {
		return goja.Undefined()
	}
	hash := algorithm.New()
	hash.Write(window(call, 1))
	return x.rt.ToValue(x.rt.NewArrayBuffer(hash.Sum(nil)))
}

// zone is the offset from UTC in seconds and the abbreviation of a time zone:
// milliseconds, name.
func (x *execution) zone(call goja.FunctionCall) goja.Value {
	name := call.Argument(1).String()
	if name == "" || name == "Local" {
		return goja.Undefined()
	}
	location, err := time.LoadLocation(name)
	if err != nil {
		return goja.Undefined()
	}
	abbreviation, offset := time.UnixMilli(call.Argument(0).ToInteger()).In(location).Zone()
	return x.rt.NewArray(offset, abbreviation)
}

var sensitivities = map[string][]collate.Option{
	"base": {collate.IgnoreCase, collate.IgnoreDiacritics, collate.IgnoreWidth}, "accent": {collate.IgnoreCase}, "case": {collate.IgnoreDiacritics}, "variant": nil,
}

// collator gives a function that compares strings: locale, sensitivity, numeric.
func (x *execution) collator(call goja.FunctionCall) goja.Value {
	tag, err := language.Parse(call.Argument(0).String())
	if err != nil {
		return goja.Undefined()
	}
	options := sensitivities[call.Argument(1).String()]
	if call.Argument(2).ToBoolean() {
		options = append(options[:len(options):len(options)], collate.Numeric)
	}
	collator := collate.New(tag, options...)
	return x.rt.ToValue(func(call goja.FunctionCall) goja.Value {
		return x.rt.ToValue(collator.CompareString(call.Argument(0).String(), call.Argument(1).String()))
	})
}

// decimal writes a number that is not negative in decimal notation, rounded half
// up as it is written, not as it is stored: number, fraction digits or -1,
// significant digits or -1, power of ten to multiply with.
func (x *execution) decimal(call goja.FunctionCall) goja.Value {
	value := new(big.Rat)
	digits := 1 // before the point; fewer than one for leading zeros after it
	switch number := call.Argument(0).Export().(type) {
	case *big.Int:
		value.SetInt(number)
		digits = len(number.String())
	default:
		f := call.Argument(0).ToFloat()
		value.SetString(strconv.FormatFloat(f, 'g', -1, 64))
		if _, exponent, ok := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e"); ok {
			n, _ := strconv.Atoi(exponent)
			digits = n + 1
		}
	}
	if scale := call.Argument(3).ToInteger(); scale > 0 {
		value.Mul(value, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(scale), nil)))
		digits += int(scale)
	}
	fraction := int(call.Argument(1).ToInteger())
	if significant := int(call.Argument(2).ToInteger()); significant > 0 {
		fraction = significant - digits
	}
	return x.rt.ToValue(roundedText(value, fraction))
}

// roundedText writes a number with so many digits after the point, fewer than none
// for zeros before it, and no zeros at the end of the fraction.
func roundedText(value *big.Rat, fraction int) string {
	ten := big.NewInt(10)
	power := new(big.Int).Exp(ten, big.NewInt(int64(max(fraction, -fraction))), nil)
	scaled := new(big.Rat)
	if fraction >= 0 {
		scaled.Mul(value, new(big.Rat).SetInt(power))
	} else {
		scaled.Quo(value, new(big.Rat).SetInt(power))
	}
	scaled.Add(scaled, big.NewRat(1, 2))
	whole := new(big.Int).Quo(scaled.Num(), scaled.Denom())
	if fraction < 0 {
		return whole.Mul(whole, power).String()
	}
	text := whole.String()
	if len(text) <= fraction {
		text = strings.Repeat("0", fraction-len(text)+1) + text
	}
	if fraction == 0 {
		return text
	}
	point := len(text) - fraction
	return strings.TrimRight(strings.TrimRight(text[:point]+"."+text[point:], "0"), ".")
}
