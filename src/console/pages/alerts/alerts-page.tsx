/** Alerts: the state of each for every agent that it looks at, who looks after it, and what is silenced. */
import { useState } from 'preact/hooks';
import { useApi, useGet } from '../../api/use-api.ts';
import { useSend } from '../../api/use-send.ts';
import { AnswerState } from '../../parts/answer-state.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { countText, timeText, unknownText } from '../../parts/format.ts';
import { PageFrame } from '../../parts/page-frame.tsx';
import { useMay } from '../../parts/session.tsx';
import { AcknowledgeDialog, SilenceDialog } from './alert-dialogs.tsx';
import { AlertNotes, StateChip } from './alert-marks.tsx';
import { type Alert, alertKey, figureText, mostUrgentFirst } from './alert-text.ts';

const everyMs = 10_000;

type Opened = { readonly what: 'silence' | 'acknowledge'; readonly alert: Alert } | undefined;

export function AlertsPage() {
  const found = useGet('/alerts', {}, { everyMs });
  const { value, reload } = found;
  const api = useApi();
  const [maySilence, mayAcknowledge] = [useMay('operate'), useMay('annotate')];
  const { isSending, error, send } = useSend();
  const [opened, setOpened] = useState<Opened>();
  const close = (): void => setOpened(undefined);
  const done = (): void => {
    close();
    reload();
  };

  async function lift(alert: Alert, path: 'DELETE /alerts/{name}/silence' | 'DELETE /alerts/{name}/acknowledge'): Promise<void> {
    const isOfAll = path === 'DELETE /alerts/{name}/silence' && alert.silence?.all_agents === true;
    const query = isOfAll ? {} : { agent: alert.agent ?? '' };
    if (await send(async () => void (await api.send(path, { path: { name: alert.name }, query })))) reload();
  }

  const columns: readonly Column<Alert>[] = [
    { key: 'state', title: 'State', cell: ({ state }) => <StateChip state={state} /> },
    {
      key: 'name',
      title: 'Alert and agent',
      wraps: true,
      cell: ({ name, when, agent, runs_page: runs }) => (
        <>
          <strong>{name}</strong>
          <div>
            <a href={runs}>{agent ?? 'runs without an agent'}</a>
          </div>
          <div class="dim small">{when}</div>
        </>
      ),
    },
    { key: 'figure', title: 'Value', isNumber: true, cell: ({ figure, unit }) => figureText(figure, unit) },
    { key: 'threshold', title: 'Threshold', isNumber: true, cell: ({ threshold, unit }) => figureText(threshold, unit) },
    { key: 'since', title: 'Since', cell: ({ since }) => (since === null ? unknownText : timeText(since)) },
    {
      key: 'why',
      title: 'Why',
      wraps: true,
      cell: (alert) => (
        <>
          {alert.explanation}
          {alert.undelivered === 0 ? null : (
            <div class="dim small">
              {countText(alert.undelivered)} {alert.undelivered === 1 ? 'message waits' : 'messages wait'}
            </div>
          )}
          <AlertNotes alert={alert} />
        </>
      ),
    },
    {
      key: 'do',
      title: 'Actions',
      cell: (alert) => (
        <span class="row">
          {!maySilence ? null : alert.silence === null ? (
            <button type="button" onClick={() => setOpened({ what: 'silence', alert })}>
              Silence
            </button>
          ) : (
            <button type="button" disabled={isSending} onClick={() => void lift(alert, 'DELETE /alerts/{name}/silence')}>
              End silence
            </button>
          )}
          {!mayAcknowledge || alert.firing_since === null ? null : alert.acknowledged === null ? (
            <button type="button" onClick={() => setOpened({ what: 'acknowledge', alert })}>
              Acknowledge
            </button>
          ) : (
            <button type="button" disabled={isSending} onClick={() => void lift(alert, 'DELETE /alerts/{name}/acknowledge')}>
              Take back
            </button>
          )}
        </span>
      ),
    },
  ];

  return (
    <PageFrame title="Alerts">
      <AnswerState of={found} what="the alerts" />
      {error === undefined ? null : <ErrorBox error={error} />}
      {value?.alerts.length === 0 ? (
        <EmptyState title="There is no alert">
          <p>An alert looks at a figure of each agent twice a minute, and tells people when it is bad. Add one to the configuration:</p>
          <pre>{'alerts:\n  - name: crashed\n    when: run errors > 5%'}</pre>
        </EmptyState>
      ) : null}
      {value !== undefined && value.alerts.length > 0 ? (
        <DataTable caption="Alerts" columns={columns} rows={mostUrgentFirst(value.alerts)} rowKey={alertKey} />
      ) : null}
      {opened?.what === 'silence' ? <SilenceDialog alert={opened.alert} onClose={close} onDone={done} /> : null}
      {opened?.what === 'acknowledge' ? <AcknowledgeDialog alert={opened.alert} onClose={close} onDone={done} /> : null}
    </PageFrame>
  );
}
