/** Problems of the service itself, with their remedies. */
import type { GetAnswer } from '../../api/client.ts';
import type { Loaded } from '../../api/use-api.ts';
import { DocText } from '../../parts/doc-text.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';

type NoticesAnswer = GetAnswer<'/notices'>;
type Notice = NoticesAnswer['notices'][number];

const severityWords = { error: 'Error', warning: 'Warning', info: 'Note' } as const;

const boxes = { error: 'box failed', warning: 'box warning', info: 'box' } as const;

export function Notices({ of: { value, error, reload } }: { readonly of: Loaded<NoticesAnswer> }) {
  // A token that sees one tenant gets none of them.
  if (error !== undefined && error.status !== 403) return <ErrorBox error={error} onRetry={reload} />;
  return (
    <>
      {value?.notices
        .filter((notice) => !isAboutStrangers(notice))
        .map((notice) => (
          <div key={`${notice.code} ${notice.message}`} class={boxes[notice.severity]} role="status">
            <div class="text">
              <strong>
                {severityWords[notice.severity]}: {notice.message}
              </strong>{' '}
              <WayOut notice={notice} />
            </div>
          </div>
        ))}
    </>
  );
}

/** Shops and databases send spans beside agents, which is not a fault. */
function isAboutStrangers({ code, severity }: Notice): boolean {
  return code === 'unrecognised_spans' && severity === 'info';
}

/** All services without an agent, on one line that opens. */
export function UnrecognisedSpans({ of: { value } }: { readonly of: Loaded<NoticesAnswer> }) {
  const notices = value?.notices.filter(isAboutStrangers) ?? [];
  if (notices.length === 0) return null;
  return (
    <details class="small">
      <summary class="dim">{notices.length === 1 ? 'One service sends' : `${notices.length} services send`} spans without an agent</summary>
      <ul>
        {notices.map((notice) => (
          <li key={notice.message}>
            {notice.message} <WayOut notice={notice} />
          </li>
        ))}
      </ul>
    </details>
  );
}

function WayOut({ notice: { todo, link } }: { readonly notice: Notice }) {
  return (
    <>
      <DocText text={todo} /> {link.startsWith('/') ? <a href={link}>Show it.</a> : <DocText text={link} />}
    </>
  );
}
