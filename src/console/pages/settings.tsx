/** Settings of the service: configuration, exporters, storage, tokens. Nothing here changes the configuration. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { GetAnswer } from '../api/client.ts';
import { failureOf, useApi, useGet } from '../api/use-api.ts';
import { AnswerState } from '../parts/answer-state.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { DocText } from '../parts/doc-text.tsx';
import { agoText, bytesText, countText, durationText, timeText, unknownText } from '../parts/format.ts';
import { PageFrame } from '../parts/page-frame.tsx';
import { ScrollFrame } from '../parts/scroll-frame.tsx';
import { useMay } from '../parts/session.tsx';
import { useToast } from '../parts/toast.tsx';
import { yamlText } from '../parts/yaml-text.ts';

type SettingsAnswer = GetAnswer<'/settings'>;
type Exporter = SettingsAnswer['exporters'][number];
type Remark = SettingsAnswer['warnings'][number];
type Replica = GetAnswer<'/replicas'>['replicas'][number];

const everyMs = 10_000;

export function Settings() {
  const found = useGet('/settings', {}, { everyMs });
  const { value, reload } = found;
  return (
    <PageFrame title="Settings">
      <AnswerState of={found} what="the settings" />
      {value === undefined ? null : (
        <>
          <Remarks title="The last reload changed nothing" kind="failed" remarks={value.refused} />
          <Remarks title="Probable mistakes" kind="warning" remarks={value.warnings} />
          {value.restart_needed.length === 0 ? null : (
            <div class="box warning" role="status">
              <div class="text">
                <strong>A restart is needed</strong> for <code>{value.restart_needed.join(', ')}</code>.
              </div>
            </div>
          )}
          <Service settings={value} />
          <Replicas />
          <Exporters exporters={value.exporters} onRetried={reload} />
          <Storage storage={value.storage} />
          <Tokens tokens={value.tokens} />
          <Part title="Configuration in force">
            {value.configuration === null ? (
              <p class="dim">The program that runs the service gave none.</p>
            ) : (
              <ScrollFrame class="configuration" label="Configuration in force, secrets masked">
                <pre>{yamlText(value.configuration)}</pre>
              </ScrollFrame>
            )}
          </Part>
        </>
      )}
    </PageFrame>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="stack">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Remarks({
  title,
  kind,
  remarks,
}: {
  readonly title: string;
  readonly kind: 'failed' | 'warning';
  readonly remarks: readonly Remark[];
}) {
  if (remarks.length === 0) return null;
  return (
    <div class={`box ${kind}`} role="status">
      <div class="text">
        <strong>{title}</strong>
        <ul>
          {remarks.map(({ file, line, key, problem, todo }) => (
            <li key={`${file}:${line} ${key} ${problem}`}>
              <code>{line === 0 ? file : `${file}:${line}`}</code> {key === '' ? null : <code>{key}</code>} {problem}.{' '}
              <DocText text={todo} />
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

function Service({ settings: { version, node, started_at: started, read_at: read, file } }: { readonly settings: SettingsAnswer }) {
  return (
    <Part title="Service">
      <dl class="facts">
        <Fact name="Version" value={version} />
        <Fact name="Node.js" value={node} />
        <Fact name="Started" value={timeText(started)} />
        <Fact name="Configuration read" value={timeText(read)} />
        <Fact name="File" value={file === null ? 'none: all defaults' : <code>{file}</code>} />
      </dl>
    </Part>
  );
}

/** Absent for a service that has the store for itself. */
function Replicas() {
  const { value } = useGet('/replicas', {}, { everyMs });
  if (value === undefined || value.replicas.length < 2) return null;
  const columns: readonly Column<Replica>[] = [
    { key: 'host', title: 'Host', cell: ({ host, id, own }) => `${host} (${id.slice(0, 8)})${own ? ', this one' : ''}` },
    { key: 'state', title: 'State', cell: ({ state }) => state },
    { key: 'seen', title: 'Last seen', cell: ({ seen_at: at }) => agoText(at, Date.now()) },
    {
      key: 'clock',
      title: 'Clock is ahead by',
      cell: ({ clock_skew_seconds: skew }) => (skew === null ? unknownText : `${skew.toFixed(1)} s`),
    },
    { key: 'started', title: 'Started', cell: ({ started_at: at }) => timeText(at) },
    { key: 'version', title: 'Version', cell: ({ version }) => version },
    { key: 'configuration', title: 'Configuration', cell: ({ configuration }) => configuration ?? unknownText },
    { key: 'tasks', title: 'Does for all', cell: ({ tasks }) => (tasks.length === 0 ? 'nothing' : tasks.join(', ')) },
  ];
  return (
    <Part title="Replicas">
      <DataTable caption="Processes on the same store" columns={columns} rows={value.replicas} rowKey={({ id }) => id} />
    </Part>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Exporters({ exporters, onRetried }: { readonly exporters: readonly Exporter[]; readonly onRetried: () => void }) {
  const api = useApi();
  const toast = useToast();
  const mayOperate = useMay('operate');
  const [busy, setBusy] = useState<string>();
  const retry = async (exporter: string): Promise<void> => {
    setBusy(exporter);
    try {
      const { retried } = await api.send('POST /exports/retry', { query: { exporter } });
      toast(`${retried} dead letters of ${exporter} wait again.`);
      onRetried();
    } catch (error) {
      const { message, todo } = failureOf(error);
      toast(`${message} ${todo}`, 'failed');
    }
    setBusy(undefined);
  };
  const columns: readonly Column<Exporter>[] = [
    { key: 'name', title: 'Exporter', cell: ({ name, kind }) => `${name}${kind === null || kind === name ? '' : ` (${kind})`}` },
    { key: 'sends', title: 'Sends', cell: ({ sends }) => sends },
    {
      key: 'state',
      title: 'State',
      cell: ({ circuit, fault, configured }) => <State circuit={circuit} fault={fault} isConfigured={configured} />,
    },
    { key: 'queue', title: 'To send', isNumber: true, cell: ({ to_send: count }) => countText(count) },
    { key: 'lag', title: 'Oldest', isNumber: true, cell: ({ oldest_age_seconds: age }) => durationText(age) },
    { key: 'dead', title: 'Dead letters', isNumber: true, cell: ({ dead }) => countText(dead) },
    { key: 'sent', title: 'Last sent', cell: ({ sent_at: at }) => (at === null ? unknownText : agoText(at, Date.now())) },
    {
      key: 'retry',
      title: 'Retry',
      cell: ({ name, dead }) =>
        dead === null || dead === 0 || !mayOperate ? null : (
          <button type="button" disabled={busy !== undefined} onClick={() => void retry(name)}>
            Send dead letters again
          </button>
        ),
    },
  ];
  return (
    <Part title="Exporters">
      {exporters.length === 0 ? (
        <p class="dim">
          No exporter is configured: scores are here, at <code>/metrics</code> and in the API.
        </p>
      ) : (
        <DataTable caption="Exporters" columns={columns} rows={exporters} rowKey={({ name, sends }) => `${name} ${sends}`} />
      )}
    </Part>
  );
}

function State({
  circuit,
  fault,
  isConfigured,
}: {
  readonly circuit: Exporter['circuit'];
  readonly fault: string | null;
  readonly isConfigured: boolean;
}) {
  if (!isConfigured) return <span class="chip">not configured</span>;
  if (circuit === 'open') return <span class="chip fail">✗ sends nothing for a while{fault === null ? '' : `: ${fault}`}</span>;
  if (fault !== null) return <span class="chip warn">! {fault}</span>;
  return <span class="chip pass">✓ works</span>;
}

function Storage({ storage: { bytes, runs, oldest_run_at: oldest, retention } }: { readonly storage: SettingsAnswer['storage'] }) {
  return (
    <Part title="Storage">
      <dl class="facts">
        <Fact name="Used" value={`${bytesText(bytes)} of ${bytesText(retention.bytes)}`} />
        <Fact name="Runs" value={countText(runs)} />
        <Fact name="Oldest run" value={timeText(oldest)} />
        <Fact name="Keeps runs for" value={daysText(retention.runs_seconds)} />
        <Fact name="Keeps texts and spans for" value={daysText(retention.content_seconds)} />
        <Fact name="Keeps scores to send for" value={daysText(retention.exports_seconds)} />
      </dl>
    </Part>
  );
}

function daysText(seconds: number): string {
  return seconds >= 86_400 ? `${Math.round(seconds / 86_400)} days` : durationText(seconds);
}

function Tokens({ tokens }: { readonly tokens: SettingsAnswer['tokens'] }) {
  return (
    <Part title="Tokens">
      {tokens.length === 0 ? (
        <p class="dim">No tokens: everybody who reaches the listeners may use them.</p>
      ) : (
        <DataTable
          caption="Tokens by name"
          columns={[
            { key: 'name', title: 'Name', cell: ({ name }) => name },
            { key: 'rights', title: 'May', cell: ({ rights }) => rights.join(', ') },
            { key: 'sees', title: 'Sees', cell: ({ sees }) => (sees === 'own' ? 'its own tenant' : 'all tenants') },
          ]}
          rows={tokens}
          rowKey={({ name }) => name}
        />
      )}
    </Part>
  );
}
