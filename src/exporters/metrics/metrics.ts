/** Counts scores as metrics. No label holds a trace id; exemplars lead from a bucket to a failed run. */
import { wire } from '../../model/attributes.ts';
import { noTenant, unreachable, type Tenant } from '../../model/ids.ts';
import { numberOfText, recentNumbers } from '../../model/recent-numbers.ts';
import { type Evaluation, evaluationKeyText, type Verdict, errorType } from '../../model/verdict.ts';
import { attemptOf, type Attempt } from '../../pipeline/reporting/evaluability.ts';
import type { Labels } from '../../telemetry/telemetry.ts';
import { type Exporter } from '../exporter.ts';
import { itemRevision, type ExportedRun, type ExportItem } from '../../model/scored-run.ts';
import type { ExporterDeps, ExporterSettings } from '../settings.ts';

/** Verdicts in memory, to detect changes in a later revision. The oldest go first. */
export const verdictsRememberedMax = 40_000;
/** Tenants with a separate label value; later ones share one. */
export const tenantLabelsMax = 100;
const otherTenants = 'other';

export function metricsExporter(_settings: ExporterSettings, { telemetry }: Pick<ExporterDeps, 'telemetry'>): Exporter {
  const verdicts = recentNumbers(verdictsRememberedMax);

  const tenants = new Set<Tenant>();

  /** The default tenant is the empty text, so its series have no tenant label. */
  function tenantLabel(tenant: Tenant): string {
    if (tenant === noTenant || tenants.has(tenant)) return tenant;
    if (tenants.size >= tenantLabelsMax) {
      telemetry.add('tracejury.metrics.tenants_folded', 1);
      return otherTenants;
    }
    tenants.add(tenant);
    return tenant;
  }

  /** Compares with the previous revision: `changed`, `same`, or `unknown` when that is forgotten. */
  function change({ key, verdict }: Evaluation): string {
    const now = numberOfText(fingerprint(verdict));
    const before = verdicts.set(evaluationKeyText(key), now);
    return before === undefined ? 'unknown' : before === now ? 'same' : 'changed';
  }

  function countFirst(item: ExportItem): void {
    const { run } = item;
    const agent = {
      [wire.agentName]: run.trace.agent ?? '',
      [wire.targetService]: run.service ?? '',
      [wire.targetVersion]: run.serviceVersion ?? '',
    };
    const tenant = { [wire.tenant]: tenantLabel(run.tenant) };
    if (isRunsFirst(item))
      telemetry.add('tracejury.runs', 1, {
        ...agent,
        ...tenant,
        [wire.completeness]: run.completeness,
        [wire.runStatus]: run.trace.status ?? '',
      });
    for (const ended of item.decisions) {
      const { name, decision, reason } = ended;
      telemetry.add('tracejury.decisions', 1, {
        [wire.evaluationName]: name,
        [wire.decision]: decision,
        'tracejury.reason': reason ?? '',
        ...tenant,
      });
      const attempt = attemptOf(run, ended);
      if (attempt !== undefined) telemetry.add('tracejury.evaluability', 1, attemptLabels(attempt));
    }
    for (const { key, evaluatorKind, verdict } of item.evaluations) {
      const target = { [wire.evaluationName]: key.name, ...agent, ...tenant, [wire.evaluatorKind]: evaluatorKind };
      telemetry.add('tracejury.evaluation.results', 1, { ...target, ...resultLabels(verdict) });
      if (verdict.kind !== 'scored') continue;
      telemetry.record('tracejury.evaluation.score', verdict.score, target, verdict.passed === false ? exemplarOf(run) : undefined);
    }
  }

  return {
    id: 'metrics',
    isVolatile: true,
    async send(item) {
      const changes = item.evaluations.map((evaluation) => ({ evaluation, changed: change(evaluation) }));
      if (itemRevision(item) === 1) countFirst(item);
      else {
        for (const { evaluation, changed } of changes) {
          telemetry.add('tracejury.evaluation.revisions', 1, { [wire.evaluationName]: evaluation.key.name, 'tracejury.change': changed });
        }
      }
      return { kind: 'sent' };
    },
    async stop() {
      verdicts.clear();
    },
  };
}

/** Items of judge verdicts come later and concern a run that is already counted. */
function isRunsFirst({ evaluations, decisions }: ExportItem): boolean {
  const kinds = [...evaluations, ...decisions].map(({ evaluatorKind }) => evaluatorKind);
  // The run's own item carries the decisions made without a question, even when no rule is configured.
  return (
    kinds.length === 0 || kinds.includes('rule') || decisions.some(({ decision }) => decision === 'filtered' || decision === 'sampled_out')
  );
}

function attemptLabels({ agent, dialect, name, outcome, reason, need }: Attempt): Labels {
  return {
    [wire.agentName]: agent,
    'tracejury.dialect': dialect,
    [wire.evaluationName]: name,
    'tracejury.outcome': outcome,
    'tracejury.reason': reason,
    'tracejury.need': need,
  };
}

function resultLabels(verdict: Verdict): Labels {
  switch (verdict.kind) {
    case 'scored':
      return { [wire.scoreLabel]: verdict.label };
    case 'skipped':
      return { [wire.scoreLabel]: 'skipped' };
    case 'failed':
      return { [wire.scoreLabel]: 'error', [wire.errorType]: errorType(verdict.error) };
    default:
      return unreachable(verdict);
  }
}

function fingerprint(verdict: Verdict): string {
  if (verdict.kind === 'scored') return `${verdict.score} ${verdict.label}`;
  return verdict.kind === 'skipped' ? `skipped ${verdict.reason}` : 'failed';
}

/** The place of the agent's span, also when the run is known under another trace. */
function exemplarOf({ traceId, spanTraceId = traceId, spanId }: ExportedRun): Labels {
  return { trace_id: spanTraceId, span_id: spanId };
}
