/** Small spans of one dialect, and the facts that its collector must read from each. */
import { expect, test } from 'vitest';
import type { Collector } from '../../collectors/collector.ts';
import { span, type Attributes, type SpanData } from '../builders/spans.ts';

export interface Case {
  readonly name: string;
  readonly span?: Omit<Partial<SpanData>, 'attributes'>;
  readonly attributes?: Attributes;
  /** Members that the facts must have; they may have others. */
  readonly facts: object;
  /** Paths that the facts must not have: what the span does not carry is unknown. */
  readonly absent?: readonly string[];
}

export function testCases(
  collector: Collector,
  cases: readonly Case[],
  common: { readonly scope?: string; readonly attributes?: Attributes } = {},
): void {
  for (const { name, span: data, attributes, facts, absent } of cases) {
    test(`${collector.id}: ${name}`, () => {
      const read = collector.read(
        span({
          id: 1,
          ...(common.scope === undefined ? {} : { scope: common.scope }),
          ...data,
          attributes: { ...common.attributes, ...attributes },
        }),
      );
      expect(read).toMatchObject(facts);
      for (const path of absent ?? []) expect(read).not.toHaveProperty(path);
    });
  }
}
