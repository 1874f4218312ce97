/** What is wrong with the service itself, with the way out. */
import { useGet } from '../../api/use-api.ts';
import { ErrorBox } from '../../parts/error-box.tsx';

const everyMs = 30_000;
const severityWords = { error: 'Error', warning: 'Warning', info: 'Note' } as const;

const boxes = { error: 'box failed', warning: 'box warning', info: 'box' } as const;

export function Notices() {
  const { value, error, reload } = useGet('/notices', {}, { everyMs });
  // A token that sees one tenant gets none of them.
  if (error !== undefined && error.status !== 403) return <ErrorBox error={error} onRetry={reload} />;
  const notices = value?.notices ?? [];
  return (
    <>
      {notices.map(({ code, severity, message, todo, link }) => (
        <div key={`${code} ${message}`} class={boxes[severity]} role="status">
          <div class="text">
            <strong>
              {severityWords[severity]}: {message}
            </strong>{' '}
            {todo} {link.startsWith('/') ? <a href={link}>Show it.</a> : <span class="dim small">{link}</span>}
          </div>
        </div>
      ))}
    </>
  );
}
