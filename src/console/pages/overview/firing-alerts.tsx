/** The alerts that fire, each with its runs. */
import { useGet } from '../../api/use-api.ts';
import { ErrorBox } from '../../parts/error-box.tsx';
import { timeText } from '../../parts/format.ts';
import { AlertNotes } from '../alerts/alert-marks.tsx';
import { alertKey } from '../alerts/alert-text.ts';

const everyMs = 30_000;
/** The page of alerts has the others. */
const shownMax = 10;

export function FiringAlerts() {
  const { value, error, reload } = useGet('/alerts', { query: { state: 'firing' } }, { everyMs });
  if (error !== undefined) return <ErrorBox error={error} onRetry={reload} />;
  const alerts = value?.alerts ?? [];
  return (
    <>
      {alerts.slice(0, shownMax).map((alert) => (
        <div key={alertKey(alert)} class={alert.silence === null ? 'box failed' : 'box'} role="status">
          <div class="text">
            <strong>
              The alert {alert.name} has fired for {alert.agent ?? 'runs without an agent'} since {timeText(alert.firing_since)}:
            </strong>{' '}
            {alert.explanation} <a href={alert.runs_page}>Show the runs.</a> <a href="/alerts">All alerts.</a>
            <AlertNotes alert={alert} />
          </div>
        </div>
      ))}
      {alerts.length <= shownMax ? null : (
        <p>
          <a href="/alerts">{alerts.length - shownMax} more alerts fire.</a>
        </p>
      )}
    </>
  );
}
