package openai

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

// MaxRetryAfter bounds the wait that a server can ask for.
const MaxRetryAfter = time.Hour

// retryAfter reads how long a server asks to wait: retry-after-ms, which is the
// finer one, or Retry-After in seconds or as a date. What cannot be read is no
// wait.
func retryAfter(header http.Header, now time.Time) time.Duration {
	if wait, ok := number(header.Get("Retry-After-Ms"), time.Millisecond); ok {
		return wait
	}
	value := header.Get("Retry-After")
	if wait, ok := number(value, time.Second); ok {
		return wait
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(0, at.Sub(now)), MaxRetryAfter)
	}
	return 0
}

// number reads a count of units. A negative one is none.
func number(s string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(s, 64)
	if math.IsInf(n, 1) {
		return MaxRetryAfter, true
	}
	if err != nil || math.IsNaN(n) || n < 0 {
		return 0, false
	}
	// The comparison is made in floats, in which it cannot overflow.
	if n >= float64(MaxRetryAfter)/float64(unit) {
		return MaxRetryAfter, true
	}
	return time.Duration(n * float64(unit)), true
}
