package bench

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestPairsAreInterleaved(t *testing.T) {
	var order string
	side := func(name string) func(context.Context) error {
		return func(context.Context) error { order += name; return nil }
	}
	if _, _, err := pairs(t.Context(), 3, side("a"), side("b")); err != nil {
		t.Fatal(err)
	}
	if order != "ababab" {
		t.Errorf("order is %s, want ababab", order)
	}
}

func TestPairsStop(t *testing.T) {
	failure := errors.New("broken")
	ctx, cancel := context.WithCancel(t.Context())
	nothing := func(context.Context) error { return nil }
	tests := []struct {
		name string
		ours func(context.Context) error
		want error
	}{
		{"at a failure", func(context.Context) error { return failure }, failure},
		{"when ended", func(context.Context) error { cancel(); return nil }, context.Canceled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, _, err := pairs(ctx, 3, tt.ours, nothing); !errors.Is(err, tt.want) {
				t.Errorf("error is %v, want %v", err, tt.want)
			}
		})
	}
}

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		times []time.Duration
		want  time.Duration
	}{
		{[]time.Duration{7}, 7},
		{[]time.Duration{9, 1, 5}, 5},
		{[]time.Duration{4, 1, 3, 2}, 3},
	} {
		if got := median(tt.times); got != tt.want {
			t.Errorf("median of %v is %v, want %v", tt.times, got, tt.want)
		}
	}
}
