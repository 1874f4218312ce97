/** Retrieved documents in every form that SDKs give them. */
import { describe, expect, test } from 'vitest';
import { documentsMax, readDocuments } from '../../../collectors/parsing/documents.ts';
import type { AttributeValue } from '../../../src/model/span.ts';

const cases: readonly { readonly name: string; readonly raw: AttributeValue | undefined; readonly documents: readonly object[] }[] = [
  {
    name: 'LangChain’s dictionaries',
    raw: '[{"page_content":"text","metadata":{"source":"a.md"},"id":"d1"}]',
    documents: [{ id: 'd1', content: 'text' }],
  },
  {
    name: 'LangChain’s constructors',
    raw: [{ lc: 1, type: 'constructor', id: ['langchain', 'Document'], kwargs: { page_content: 'text', metadata: { id: 'd1' } } }],
    documents: [{ id: 'd1', content: 'text' }],
  },
  {
    name: 'LangChain for JavaScript',
    raw: '{"documents":[{"pageContent":"text","metadata":{"score":0.5}}]}',
    documents: [{ content: 'text', score: 0.5 }],
  },
  {
    name: 'MLflow',
    raw: '[{"page_content":"text","metadata":{"doc_uri":"a.md","chunk_id":"3"}}]',
    documents: [{ id: 'a.md', content: 'text' }],
  },
  {
    name: 'Genkit',
    raw: { documents: [{ content: [{ text: 'one ' }, { text: 'two' }], metadata: {} }] },
    documents: [{ content: 'one two' }],
  },
  { name: 'bare texts', raw: '["one","","two"]', documents: [{ content: 'one' }, { content: 'two' }] },
  { name: 'Python notation', raw: "[{'page_content': 'text', 'metadata': {}, 'id': None}]", documents: [{ content: 'text' }] },
  ...['output', 'outputs', 'result'].map((key) => ({
    name: `a list under ${key}`,
    raw: { [key]: [{ id: 7, text: 'text', score: 1 }] },
    documents: [{ id: '7', content: 'text', score: 1 }],
  })),
  { name: 'only an id', raw: [{ id: 'd1', score: 'high' }], documents: [{ id: 'd1' }] },
  { name: 'an empty document is one', raw: [{ page_content: '' }], documents: [{ content: '' }] },
  { name: 'values that are not documents', raw: [7, null, {}, [], { metadata: { score: 1 } }, { content: { a: 1 } }], documents: [] },
  { name: 'a plain text', raw: 'nothing found', documents: [] },
  { name: 'nothing', raw: undefined, documents: [] },
  { name: 'null', raw: null, documents: [] },
  { name: 'an object without a list', raw: { documents: 7 }, documents: [] },
  { name: 'a member __proto__', raw: '[{"__proto__":{"page_content":"x"}}]', documents: [] },
];

describe('documents', () => {
  for (const { name, raw, documents } of cases) test(`documents: ${name}`, () => expect(readDocuments(raw)).toEqual(documents));

  test('documents: a list beyond the limit is cut', () => {
    expect(readDocuments(Array.from({ length: documentsMax + 5 }, () => 'x'))).toHaveLength(documentsMax);
  });
});
