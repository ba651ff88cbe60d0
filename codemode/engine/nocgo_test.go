//go:build !cgo

package engine_test

const usesCgo = false
