// Package openapitest makes a service of an OpenAPI specification, for tests of
// those who call one. It knows the specification by way of another parser than the
// package openapi, so that the two check each other.
package openapitest
