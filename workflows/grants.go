package workflows

import (
	"fmt"
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/heddle-dev/heddle/activities"
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

// grants are the consents that a person gave to calls beforehand.
type grants struct {
	standing []*contract.Grant
	// revoked are the ids of those that a person took back in this run.
	revoked []string
	// given counts all grants that there have been.
	given int
}

// byGrant finds a grant for a call that a person would be asked about, and takes
// the call from what the grant is good for.
func (t *thread) byGrant(plan catalog.Plan) *contract.Grant {
	if !plan.Grantable {
		return nil
	}
	t.endStale(plan)
	for _, g := range t.standing {
		if g.Tool != plan.Tool || g.Resource != "" && g.Resource != plan.ResourceKey {
			continue
		}
		// Readers may hold the grant as it was, so it is replaced and never written to.
		used := *g
		used.Used++
		t.standing[slices.Index(t.standing, g)] = &used
		t.update("grant-"+g.ID, func(p *contract.Part) { p.Grant = &used })
		if used.Calls > 0 && used.Used >= used.Calls {
			t.endGrant(&used, contract.PartDone, "Grant "+g.ID+" is used up")
		}
		return &used
	}
	return nil
}

// endStale ends the grants that have run out, and those for the tool as it was
// described before.
func (t *thread) endStale(plan catalog.Plan) {
	now := workflow.Now(t.ctx)
	for _, g := range slices.Clone(t.standing) {
		switch {
		case g.Until != nil && !now.Before(*g.Until):
			t.endGrant(g, contract.PartExpired, "Grant "+g.ID+" has run out")
		case g.Tool == plan.Tool && g.DescriptorDigest != plan.DescriptorDigest:
			t.endGrant(g, contract.PartCancelled, "Grant "+g.ID+" ended: "+g.Tool+" has changed")
		}
	}
}

// maxCarriedGrants bounds, in bytes, the grants that go on in the next run.
const maxCarriedGrants = 8 << 10

// leaveGrants ends the oldest grants where there are more than the next run can be
// given. The calls of one that ends are asked about again.
func (t *thread) leaveGrants() {
	size, from := 0, len(t.standing)
	for ; from > 0; from-- {
		g := t.standing[from-1]
		if size += 400 + escaped(g.Resource) + escaped(g.By); size > maxCarriedGrants {
			break
		}
	}
	for _, g := range slices.Clone(t.standing[:from]) {
		t.endGrant(g, contract.PartExpired, "Grant "+g.ID+" ended with its run")
	}
}

// give makes a grant of a decision that check has let pass.
func (t *thread) give(ap *approval, d contract.Decision) *contract.Grant {
	t.given++
	g := &contract.Grant{
		ID: fmt.Sprintf("g%d", t.given), Tool: ap.Tool, DescriptorDigest: ap.DescriptorDigest, GrantTerms: *d.Grant,
		Approval: ap.ID, By: d.By, At: workflow.Now(t.ctx),
	}
	t.standing = append(t.standing, g)
	t.put(part("grant-"+g.ID, contract.KindGrant, contract.PartRunning, "Grant "+g.ID+" for "+g.Tool).with(func(p *contract.Part) {
		p.Tool, p.Grant = g.Tool, g
		p.Text = cut(byAndWhy(d.By, d.Comment), contract.MaxPartText)
	}))
	return g
}

// checkGrant says why a decision's grant cannot be given.
func (t *thread) checkGrant(ap *approval, d contract.Decision) error {
	switch {
	case d.Grant == nil:
		return nil
	case !ap.Grantable:
		return refuse(contract.ErrInvalid, "grant: %s needs an approval of each call", ap.Tool)
	case len(t.standing) >= contract.MaxGrants:
		return refuse(contract.ErrInvalid, "grant: the thread has %d grants already; revoke some", len(t.standing))
	case d.Grant.Until != nil && !workflow.Now(t.ctx).Before(*d.Grant.Until):
		return refuse(contract.ErrInvalid, "grant.until: %s has passed", d.Grant.Until)
	}
	return nil
}

// revoke ends a grant. What it let pass and has not begun is not made.
func (t *thread) revoke(r contract.RevokeGrant) error {
	if err := r.Validate(); err != nil {
		return refuse(contract.ErrInvalid, "%v", err)
	}
	i := slices.IndexFunc(t.standing, func(g *contract.Grant) bool { return g.ID == r.Grant })
	if i < 0 {
		return refuse(contract.ErrUnknownGrant, "grant: the thread has no grant %q", r.Grant)
	}
	t.revoked = append(t.revoked, r.Grant)
	title := "Grant " + r.Grant + " revoked"
	if who := byAndWhy(r.By, r.Reason); who != "" {
		title += " " + cut(who, activities.MaxCarriedText)
	}
	t.noteRevoked(*t.standing[i], r)
	t.endGrant(t.standing[i], contract.PartCancelled, title)
	return nil
}

func (t *thread) endGrant(g *contract.Grant, status contract.PartStatus, title string) {
	t.standing = slices.DeleteFunc(slices.Clone(t.standing), func(other *contract.Grant) bool { return other.ID == g.ID })
	t.finish("grant-"+g.ID, status, func(p *contract.Part) { p.Title = title })
}
