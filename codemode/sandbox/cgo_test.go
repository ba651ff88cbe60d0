//go:build cgo

package sandbox

const usesCgo = true
