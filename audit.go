package heddle

import (
	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/internal/audit"
)

// auditor writes the entries of a broker to an audit log.
type auditor struct{ log *audit.Log }

func (a auditor) Audit(e catalog.Entry) error { return a.log.Write(e) }

// openAudit begins the audit log, if there is to be one.
func (a *App) openAudit() (closeLog func(), err error) {
	if a.config.Audit == "" {
		return func() {}, nil
	}
	log, err := audit.Open(a.config.Audit)
	if err != nil {
		return nil, err
	}
	a.broker.Report(auditor{log})
	return func() {
		if err := log.Close(); err != nil {
			a.logger.Error("cannot close the audit log", "error", err)
		}
	}, nil
}
