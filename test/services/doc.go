// Package services tests threads whose tools are the operations of services: on a
// real Temporal server, with workers in processes of their own, and over real HTTP. The services are made of published
// specifications by providers/openapi/openapitest.
package services
