/** The evidence of a verdict: its spans and calls, with a text about each. */

export interface VerdictEvidence {
  readonly name: string;
  readonly evidence?: readonly string[];
  readonly details?: unknown;
}

export interface EvidenceLink {
  readonly label: string;
  /** `undefined` for a call without a span. */
  readonly spanId: string | undefined;
  /** Position of the tool call in the run; `undefined` for another part. */
  readonly call: number | undefined;
  /** Text of the verdict about it; empty when it only names it. */
  readonly text: string;
  readonly passed: boolean | undefined;
}

export interface KnownCall {
  readonly name: string;
  readonly span_id: string | null;
}

/** Links of one verdict. */
const linksMax = 200;

interface Part {
  readonly of: string | undefined;
  readonly index: number;
  readonly tool: string;
  readonly spanId: string | undefined;
  readonly passed: boolean;
  readonly explanation: string;
}

/** Parts that did not pass, then spans of the evidence that no part names. `nameOf`: of a span. */
export function evidenceLinks(
  { evidence = [], details }: VerdictEvidence,
  calls: readonly KnownCall[],
  nameOf: (spanId: string) => string | undefined,
): readonly EvidenceLink[] {
  const failed = partsOf(details).filter(({ passed }) => !passed);
  const links = failed.map(linkOf);
  const named = new Set(failed.map(({ spanId }) => spanId));
  const callBySpan = new Map(calls.flatMap(({ span_id: spanId }, at) => (spanId === null ? [] : [[spanId, at] as const])));
  const others = [...new Set(evidence)].filter((spanId) => !named.has(spanId));
  return [
    ...links,
    ...others.map((spanId): EvidenceLink => {
      const call = callBySpan.get(spanId);
      const label = call === undefined ? (nameOf(spanId) ?? `span ${spanId}`) : callLabel(calls[call]?.name ?? '', call);
      return { label, spanId, call, text: '', passed: undefined };
    }),
  ].slice(0, linksMax);
}

/** Parts of all kinds that a verdict has. */
export function partsOf(details: unknown): readonly Part[] {
  const parts = isObject(details) ? details['parts'] : undefined;
  return Array.isArray(parts) ? (parts as readonly unknown[]).flatMap((part) => (isObject(part) ? partOf(part) : [])) : [];
}

function partOf(part: { readonly [key: string]: unknown }): readonly Part[] {
  const { of, index, tool, span_id: spanId, passed, explanation } = part;
  if (typeof index !== 'number' || typeof passed !== 'boolean') return [];
  return [
    {
      of: typeof of === 'string' ? of : undefined,
      index,
      tool: typeof tool === 'string' ? tool : '',
      spanId: typeof spanId === 'string' ? spanId : undefined,
      passed,
      explanation: typeof explanation === 'string' ? explanation : '',
    },
  ];
}

function linkOf({ of, index, tool, spanId, passed, explanation }: Part): EvidenceLink {
  const label = of === undefined ? callLabel(tool, index) : `${partWords[of] ?? of} ${index + 1}${tool === '' ? '' : `: ${tool}`}`;
  return { label, spanId, call: of === undefined ? index : undefined, text: explanation, passed };
}

const partWords: { readonly [of: string]: string } = { retriever: 'retrieval', sub_agent: 'sub-agent', model_call: 'model call' };

function callLabel(tool: string, index: number): string {
  return `${tool.trim() === '' ? 'call without a name' : tool} (call ${index + 1})`;
}

/** The worst word of the verdicts that point at each span; the run's own span is left out. */
export function verdictsBySpan(
  verdicts: readonly (VerdictEvidence & { readonly passed: boolean | null })[],
): ReadonlyMap<string, { readonly failed: readonly string[]; readonly passed: readonly string[] }> {
  const found = new Map<string, { failed: string[]; passed: string[] }>();
  const at = (spanId: string): { failed: string[]; passed: string[] } => {
    const known = found.get(spanId) ?? { failed: [], passed: [] };
    found.set(spanId, known);
    return known;
  };
  for (const { name, evidence = [], details, passed } of verdicts) {
    const parts = partsOf(details);
    for (const { spanId, passed: fits } of parts) if (spanId !== undefined) at(spanId)[fits ? 'passed' : 'failed'].push(name);
    if (passed === false)
      for (const spanId of new Set(evidence)) if (!parts.some((part) => part.spanId === spanId)) at(spanId).failed.push(name);
  }
  return found;
}

/** Positions of the tool calls that verdicts fail. */
export function failedCallsOf(verdicts: readonly { readonly details?: unknown }[]): ReadonlySet<number> {
  return new Set(
    verdicts.flatMap(({ details }) => partsOf(details).flatMap(({ of, index, passed }) => (of === undefined && !passed ? [index] : []))),
  );
}

function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
