package secrets

import "context"

// Get returns a secret from the first store that has it, and makes it known to the
// redactor; see [Store]. It is for who keeps secrets: who uses them calls [Vault.Use].
func (v *Vault) Get(ctx context.Context, key Key) (Item, error) {
	_, item, err := v.get(ctx, key)
	if err == nil {
		v.redactor.Hide(key.Tenant, item.Value)
	}
	return item, err
}
