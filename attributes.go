package heddle

import (
	"context"
	"fmt"
	"slices"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/heddle-dev/heddle/signals/contract"
)

// attributeTypes are the search attributes that threads set.
var attributeTypes = map[string]enumspb.IndexedValueType{
	contract.AttributeTenant:  enumspb.INDEXED_VALUE_TYPE_KEYWORD,
	contract.AttributeAgent:   enumspb.INDEXED_VALUE_TYPE_KEYWORD,
	contract.AttributeStatus:  enumspb.INDEXED_VALUE_TYPE_KEYWORD,
	contract.AttributePending: enumspb.INDEXED_VALUE_TYPE_KEYWORD_LIST,
}

// ensureAttributes registers the search attributes that the namespace lacks. A
// thread that set one that is not registered would never get on, so a namespace
// where they are missing and cannot be registered is an error.
func ensureAttributes(ctx context.Context, c client.Client, namespace string) error {
	missing, err := missingAttributes(ctx, c, namespace)
	if err != nil || len(missing) == 0 {
		return err
	}
	_, refused := c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: missing,
	})
	if refused == nil {
		return nil
	}
	// Another worker may have registered them at the same time.
	if missing, err = missingAttributes(ctx, c, namespace); err != nil || len(missing) == 0 {
		return err
	}
	return fmt.Errorf("namespace %q lacks search attributes, and this worker may not register them: %w; create them with\n  %s",
		namespace, refused, createCommand(namespace, missing))
}

func missingAttributes(
	ctx context.Context, c client.Client, namespace string,
) (map[string]enumspb.IndexedValueType, error) {
	listed, err := c.OperatorService().ListSearchAttributes(ctx,
		&operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return nil, fmt.Errorf("list the search attributes of namespace %q: %w", namespace, err)
	}
	missing := map[string]enumspb.IndexedValueType{}
	for name, want := range attributeTypes {
		switch got, ok := listed.GetCustomAttributes()[name]; {
		case !ok:
			missing[name] = want
		case got != want:
			return nil, fmt.Errorf("search attribute %s of namespace %q has the type %s, want %s; remove it with\n"+
				"  temporal operator search-attribute remove --namespace %s --name %s",
				name, namespace, got, want, namespace, name)
		}
	}
	return missing, nil
}

// createCommand is what an operator types to register search attributes.
func createCommand(namespace string, missing map[string]enumspb.IndexedValueType) string {
	names := make([]string, 0, len(missing))
	for name := range missing {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	b.WriteString("temporal operator search-attribute create --namespace " + namespace)
	for _, name := range names {
		fmt.Fprintf(&b, " --name %s --type %s", name, missing[name])
	}
	return b.String()
}
