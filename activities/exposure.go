package activities

import (
	"context"

	"github.com/heddle-dev/heddle/catalog"
)

// Exposure is how an agent's model reaches its tools.
type Exposure string

// The exposures. The zero value is ExposureDirect.
const (
	// ExposureDirect: each tool is a function that the model can call.
	ExposureDirect Exposure = "direct"
	// ExposureGateway: four functions search, describe and call the tools.
	ExposureGateway Exposure = "gateway"
	// ExposureCode: the one function is execute, which runs a snippet of TypeScript
	// that calls the tools.
	ExposureCode Exposure = "code"
	// ExposureAuto is ExposureDirect while the definitions of the tools come to at
	// most MaxDirectTokens, and else ExposureCode.
	ExposureAuto Exposure = "auto"
)

// Exposures are all exposures, for who reads one.
var Exposures = []Exposure{ExposureDirect, ExposureGateway, ExposureCode, ExposureAuto}

// RunsSnippets reports whether a model may be given execute.
func (e Exposure) RunsSnippets() bool { return e == ExposureCode || e == ExposureAuto }

const (
	// MaxDirectTokens is how many tokens the definitions of an agent's tools may come
	// to before ExposureAuto no longer shows them all to the model.
	MaxDirectTokens = 4000
	// bytesPerToken is about what the vendors' tokenizers make of English and JSON.
	bytesPerToken = 4
	// minDefinition is the least that the definition of a tool comes to, in bytes:
	// where there are too many tools, their schemas need not be made to see it.
	minDefinition = 100
)

// offer is what a model may call.
type offer struct {
	tools []ToolDefinition
	// ids are those that the names of the tools stand for.
	ids map[string]string
	// exposure is how the tools are reached; never ExposureAuto.
	exposure Exposure
}

// offer is what the model of an agent may call.
func (a *Activities) offer(ctx context.Context, agent Agent, scope catalog.Scope) (offer, error) {
	switch agent.Exposure {
	case ExposureCode:
		return codeOffer, nil
	case ExposureGateway:
		return gatewayOffer, nil
	case ExposureAuto:
		return a.autoOffer(ctx, scope)
	case ExposureDirect:
	}
	return a.directOffer(ctx, scope)
}

// autoOffer offers the tools themselves, unless there are too many.
func (a *Activities) autoOffer(ctx context.Context, scope catalog.Scope) (offer, error) {
	tools, err := a.Broker.List(ctx, scope)
	if err != nil {
		return offer{}, unavailable(ErrTypeCatalog, "list the agent's tools", err)
	}
	if len(tools)*minDefinition > MaxDirectTokens*bytesPerToken {
		return codeOffer, nil
	}
	direct, err := a.directOffer(ctx, scope)
	if err != nil {
		return offer{}, err
	}
	if direct.tokens() > MaxDirectTokens {
		return codeOffer, nil
	}
	return direct, nil
}

func (a *Activities) directOffer(ctx context.Context, scope catalog.Scope) (offer, error) {
	tools, err := a.Broker.Tools(ctx, scope)
	if err != nil {
		return offer{}, unavailable(ErrTypeCatalog, "list the agent's tools", err)
	}
	tools = append(tools, a.connectable(scope)...)
	ids := make(map[string]string, len(tools))
	for _, tool := range tools {
		ids[ToolName(tool.ID)] = tool.ID
	}
	return offer{tools: definitions(tools), ids: ids, exposure: ExposureDirect}, nil
}

// tokens is about what the definitions come to.
func (o offer) tokens() int {
	bytes := 0
	for _, tool := range o.tools {
		bytes += len(tool.Name) + len(tool.Description) + len(tool.Input)
	}
	return bytes / bytesPerToken
}

// functionsOffer offers functions that are no tools of a catalog.
func functionsOffer(exposure Exposure, tools ...ToolDefinition) offer {
	o := offer{tools: tools, ids: map[string]string{}, exposure: exposure}
	for _, tool := range tools {
		o.ids[tool.Name] = tool.Name
	}
	return o
}
