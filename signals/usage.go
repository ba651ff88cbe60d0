package signals

import (
	"context"
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/signals/contract"
)

// Usage says what a tenant has used in the hour, the day and the month that go on, by
// this machine's clock, and what its limits are. It needs a running worker. A tenant
// of which nothing is counted is [contract.ErrNotCounted]: no worker's configuration
// has totals for it, or it has used nothing yet.
func (c *Client) Usage(ctx context.Context, tenant string) (contract.TenantUsage, error) {
	if err := (contract.ThreadRef{Tenant: tenant, Thread: "-"}).Validate(); err != nil {
		return contract.TenantUsage{}, invalid(err)
	}
	usage, err := query[contract.TenantUsage](ctx, c.reader, execution{workflowID: contract.UsageID(tenant)}, contract.QueryUsage)
	if hasCode(err, contract.ErrUnknownThread) {
		err = refuse(contract.ErrNotCounted, "nothing is counted of tenant %s: the workers' configuration has no totals for it (limits.tenants), or it has used nothing yet", tenant)
	}
	if err != nil {
		return contract.TenantUsage{}, fmt.Errorf("read the usage of tenant %s: %w", tenant, err)
	}
	return usage.At(time.Now()), nil
}
