/** The sums of docs/guides/operations.md, checked on one metrics page: no other source is needed. Gives those that do not hold. */

interface Sample {
  readonly name: string;
  readonly labels: { readonly [label: string]: string };
  readonly value: number;
}

export function brokenSums(page: string): readonly string[] {
  const samples = page.split('\n').flatMap(sampleOf);
  const total = totalOf(samples);
  const values = (name: string, label: string): readonly string[] => [
    ...new Set(samples.filter((one) => one.name === name).map(({ labels }) => labels[label] ?? '')),
  ];

  // Requests: none is answered with success that holds something and is not in the journal.
  const requests = receiptOf(total).map(({ signal, answered, kept }) => ({
    what: `requests of ${signal} that were answered with success`,
    is: answered,
    wanted: Math.min(answered, kept),
  }));

  // Scored runs: every exporter and the store got each of them; an exporter may have had more from the store when it started.
  const offered = total('tracejury_store_items_total', {}, { tracejury_outcome: 'retried' }) + total('tracejury_store_queue');
  const through = (labels: { readonly [label: string]: string }): number =>
    ['sent', 'passed', 'failed', 'dropped', 'replaced'].reduce(
      (sum, outcome) => sum + total('tracejury_exporter_items_total', { ...labels, tracejury_outcome: outcome }),
      0,
    ) - total('tracejury_exporter_items_total', { ...labels, tracejury_outcome: 'resumed' });
  const exporters = values('tracejury_exporter_items_total', 'tracejury_exporter').map((exporter) => {
    const labels = { tracejury_exporter: exporter };
    return { what: `items of the exporter ${exporter}`, is: through(labels) + total('tracejury_exporter_queue', labels), wanted: offered };
  });

  // Pairs of run and evaluator: each ended in one decision, and each verdict has one label.
  const runs = total('tracejury_runs_total');
  const isCounted = total('tracejury_exporter_queue', { tracejury_exporter: 'metrics' }) === 0;
  const decisions = values('tracejury_decisions_total', 'gen_ai_evaluation_name').flatMap((name) => {
    const labels = { gen_ai_evaluation_name: name };
    const verdicts = ['scored', 'skipped', 'failed'].reduce(
      (sum, decision) => sum + total('tracejury_decisions_total', { ...labels, tracejury_decision: decision }),
      0,
    );
    return [
      { what: `decisions of ${name}`, is: total('tracejury_decisions_total', labels), wanted: runs },
      { what: `results of ${name}`, is: total('tracejury_evaluation_results_total', labels), wanted: verdicts },
      {
        what: `scores of ${name}`,
        is: total('tracejury_evaluation_score_count', labels),
        wanted: total('tracejury_decisions_total', { ...labels, tracejury_decision: 'scored' }),
      },
    ];
  });
  return [...requests, ...exporters, ...(isCounted ? decisions : [])]
    .filter(({ is, wanted }) => is !== wanted)
    .map(({ what, is, wanted }) => `${what}: ${is}, not ${wanted}`);
}

type Labels = { readonly [label: string]: string };
type Total = (name: string, labels?: Labels, but?: Labels) => number;

function totalOf(samples: readonly Sample[]): Total {
  return (name, labels = {}, but = {}) =>
    samples
      .filter((one) => one.name === name && matches(one, labels) && (Object.keys(but).length === 0 || !matches(one, but)))
      .reduce((sum, { value }) => sum + value, 0);
}

/** Requests that were answered with success, and those that the journal has or that held nothing to keep. */
function receiptOf(total: Total): readonly { readonly signal: string; readonly answered: number; readonly kept: number }[] {
  return ['traces', 'logs'].map((signal) => ({
    signal,
    answered: ['200', 'OK'].reduce(
      (sum, status) => sum + total('tracejury_receiver_requests_total', { tracejury_signal: signal, tracejury_status: status }),
      0,
    ),
    kept:
      total('tracejury_journal_records_total', { tracejury_record: signal }) +
      total('tracejury_receiver_empty_total', { tracejury_signal: signal }),
  }));
}

/** The receivers' counts of the spans that came, once nothing is in progress; one process must have lived through all of it. */
export function brokenReceipt(page: string, { acknowledged }: { readonly acknowledged: number }): readonly string[] {
  const total = totalOf(page.split('\n').flatMap(sampleOf));
  const [accepted, rejected] = ['accepted', 'rejected'].map((outcome) =>
    total('tracejury_receiver_spans_total', { tracejury_outcome: outcome }),
  );
  const requests = receiptOf(total).flatMap(({ signal, answered, kept }) =>
    answered === kept ? [] : [`requests of ${signal}: ${answered} answered with success, not ${kept}`],
  );
  return [
    ...(accepted === acknowledged && rejected === 0
      ? []
      : [`spans received: ${accepted} accepted and ${rejected} rejected, not ${acknowledged} and 0`]),
    ...requests,
  ];
}

function sampleOf(line: string): readonly Sample[] {
  const [, name, labels = '', value] = /^(\w+)(?:\{([^}]*)\})? (\S+)/.exec(line) ?? [];
  if (name === undefined || value === undefined) return [];
  return [
    {
      name,
      labels: Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', text = '']) => [label, text])),
      value: Number(value),
    },
  ];
}

function matches({ labels }: Sample, wanted: { readonly [label: string]: string }): boolean {
  return Object.entries(wanted).every(([label, value]) => labels[label] === value);
}
