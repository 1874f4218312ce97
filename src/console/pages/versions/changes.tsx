/** Differences between two versions of an agent: models, prompts, and the tools that they call. */
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/use-api.ts';
import { ErrorBox } from '../../parts/error-box.tsx';
import { percentText } from '../../parts/format.ts';
import { type NamedChange, namedChanges, type NamedRuns } from './agent-versions.ts';

type Version = Schemas['Version'];

export interface ChangeProps {
  readonly agent: string;
  readonly versions: readonly Version[];
  readonly version: string;
  readonly against: string;
}

export function ChangeSection({ agent, versions, version, against }: ChangeProps) {
  const [now, before] = [version, against].map((name) => versions.find((one) => one.version === name));
  const from = [now, before].flatMap((one) => (one === undefined ? [] : [one.first_seen])).sort()[0];
  const tools = useGet('/tools', { query: { agent, from, by: 'version' } }, { isOff: from === undefined });
  const calls = (name: string): readonly NamedRuns[] =>
    (tools.value?.tools ?? []).filter((row) => row.version === name).map((row) => ({ name: row.name, runs: row.calls }));
  if (now === undefined || before === undefined) return null;
  return (
    <section class="stack">
      <h2>What changed</h2>
      {tools.error === undefined ? null : <ErrorBox error={tools.error} onRetry={tools.reload} />}
      <dl class="facts">
        <Changes title="Models" of="runs" changes={namedChanges(before.models, now.models)} hasData={now.models.length > 0} />
        <Changes
          title="System prompts, by hash"
          of="runs"
          changes={namedChanges(before.prompts, now.prompts)}
          hasData={now.prompts.length > 0}
        />
        {tools.value === undefined ? null : (
          <Changes
            title="Tools called"
            of="calls"
            changes={namedChanges(calls(against), calls(version))}
            hasData={calls(version).length > 0}
          />
        )}
      </dl>
    </section>
  );
}

interface ChangesProps {
  readonly title: string;
  readonly of: 'runs' | 'calls';
  readonly changes: readonly NamedChange[];
  /** False when the spans do not name them. */
  readonly hasData: boolean;
}

const changesMax = 12;

function Changes({ title, of, changes, hasData }: ChangesProps) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        {changes.length === 0 ? (
          <span class="dim">{hasData ? 'The same.' : 'The spans name none.'}</span>
        ) : (
          <ul class="plain-list">
            {changes.slice(0, changesMax).map(({ name, before, now }) => (
              <li key={name}>
                <span class="chip">{before === 0 ? '+ new' : now === 0 ? '− gone' : '≠ share'}</span> <code>{name}</code>{' '}
                <span class="dim">
                  {before === 0
                    ? `${percentText(now)} of the ${of}`
                    : now === 0
                      ? `was ${percentText(before)} of the ${of}`
                      : `${percentText(before)} → ${percentText(now)} of the ${of}`}
                </span>
              </li>
            ))}
          </ul>
        )}
        {changes.length > changesMax ? <span class="dim">and {changes.length - changesMax} more</span> : null}
      </dd>
    </div>
  );
}
