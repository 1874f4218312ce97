/** Genkit: keys with colons; the subtype is the kind of a span. */
import { describe } from 'vitest';
import { genkit } from '../../collectors/genkit.ts';
import type { JsonValue } from '../../src/model/json.ts';
import type { Attributes } from '../builders/spans.ts';
import { testCases, type Case } from './cases.ts';

function action(subtype: string | undefined, name: string, input?: JsonValue, output?: JsonValue, others: Attributes = {}): Attributes {
  return {
    'genkit:type': 'action',
    'genkit:name': name,
    ...(subtype === undefined ? {} : { 'genkit:metadata:subtype': subtype }),
    ...(input === undefined ? {} : { 'genkit:input': JSON.stringify(input) }),
    ...(output === undefined ? {} : { 'genkit:output': JSON.stringify(output) }),
    ...others,
  };
}

const request = {
  messages: [
    { role: 'system', content: [{ text: 'be kind' }] },
    { role: 'user', content: [{ text: 'q' }] },
    { role: 'model', content: [{ toolRequest: { name: 't', ref: 'c1', input: { x: 1 } } }] },
    { role: 'tool', content: [{ toolResponse: { name: 't', ref: 'c1', output: { r: 1 } } }] },
  ],
  tools: [{ name: 't', description: 'd', inputSchema: { type: 'object' } }],
};

const cases: readonly Case[] = [
  {
    name: 'a flow is the agent',
    span: { name: 'other' },
    attributes: action('flow', 'travel-agent', 'q', 'a'),
    facts: { role: 'agent', agentName: 'travel-agent', input: 'q', output: 'a' },
  },
  {
    name: 'an agent is one, too',
    attributes: action('agent', 'travel-agent'),
    facts: { role: 'agent', agentName: 'travel-agent' },
    absent: ['input', 'output'],
  },
  {
    name: 'a chat’s session is on its spans',
    attributes: action('flow', 'f', 'q', 'a', { 'genkit:sessionId': 's' }),
    facts: { sessionId: 's' },
  },
  ...[undefined, 'util', 'embedder', 'indexer', 'prompt', 'reranker', 'evaluator'].map((subtype): Case => ({
    name: `${subtype ?? 'no subtype'} is a step`,
    attributes: action(subtype, 'generate', { x: 1 }, { y: 1 }),
    facts: { role: 'step' },
    absent: ['input', 'output', 'tool', 'model'],
  })),

  {
    name: 'a tool',
    attributes: action('tool', 't', { x: 1 }, { r: 1 }),
    facts: { role: 'tool', tool: { name: 't', arguments: { x: 1 }, result: { r: 1 } } },
    absent: ['tool.id', 'tool.failed'],
  },
  {
    name: 'a tool’s own member `output` stays',
    attributes: action('tool', 't', {}, { output: { price: 1 } }),
    facts: { tool: { result: { output: { price: 1 } } } },
  },
  {
    name: 'a tool of the second form wraps what it returns',
    attributes: action('tool.v2', 't', { x: 1 }, { output: { r: 1 } }),
    facts: { role: 'tool', tool: { name: 't', result: { r: 1 } } },
  },
  { name: 'the second form around nothing', attributes: action('tool.v2', 't', {}, { output: null }), facts: { tool: { result: null } } },
  { name: 'the second form without its frame', attributes: action('tool.v2', 't', {}, 'plain'), facts: { tool: { result: 'plain' } } },
  { name: 'a tool that returned nothing', attributes: action('tool', 't', {}, null), facts: { tool: { result: null } } },
  { name: 'a tool that returned a number', attributes: action('tool', 't', {}, 42), facts: { tool: { result: 42 } } },
  {
    name: 'a tool that threw has no output and a failed state',
    attributes: action('tool', 't', { x: 1 }, undefined, { 'genkit:state': 'error' }),
    facts: { tool: { name: 't', arguments: { x: 1 }, failed: { message: '' } } },
    absent: ['tool.result'],
  },

  {
    name: 'a request: messages, requests of tools with their references, and tools',
    attributes: action('model', 'openai/gpt-4o-mini', request),
    facts: {
      role: 'model',
      model: 'gpt-4o-mini',
      inputMessages: [
        { role: 'system', text: 'be kind' },
        { role: 'user', text: 'q' },
        { role: 'assistant', requested: [{ id: 'c1', name: 't', arguments: { x: 1 } }] },
        { role: 'tool', results: [{ id: 'c1', name: 't', result: { r: 1 } }] },
      ],
      toolDefinitions: [{ name: 't', description: 'd', inputSchema: { type: 'object' } }],
    },
    absent: ['outputMessages', 'inputTokens', 'outputTokens'],
  },
  {
    name: 'a reply, with its tokens',
    attributes: action('model', 'googleai/gemini-2.5-flash', undefined, {
      message: { role: 'model', content: [{ text: 'a' }] },
      usage: { inputTokens: 120, outputTokens: 30, thoughtsTokens: 7, cachedContentTokens: 16, totalTokens: 157 },
    }),
    facts: {
      outputMessages: [{ role: 'assistant', text: 'a' }],
      inputTokens: 120,
      outputTokens: 30,
      cachedInputTokens: 16,
      reasoningTokens: 7,
    },
    absent: ['inputMessages', 'toolDefinitions'],
  },
  { name: 'a model’s name without a provider', attributes: action('model', 'echo'), facts: { role: 'model', model: 'echo' } },
  {
    name: 'a retriever',
    attributes: action('retriever', 'docs', 'q', {
      documents: [{ content: [{ text: 'one ' }, { text: 'two' }], metadata: { id: 7 } }, { content: [{ media: {} }] }],
    }),
    facts: { role: 'retriever', documents: [{ id: '7', content: 'one two' }] },
  },
  {
    name: 'texts that are cut short stay texts',
    attributes: { 'genkit:name': 't', 'genkit:metadata:subtype': 'tool', 'genkit:input': '{"x":', 'genkit:output': '{"r":' },
    facts: { tool: { arguments: null, argumentsText: '{"x":', result: '{"r":' } },
  },
  {
    name: 'values other than texts are not read',
    attributes: { 'genkit:name': 7, 'genkit:metadata:subtype': 'model', 'genkit:input': [1], 'genkit:output': { usage: 1 } },
    span: { name: 'm' },
    facts: { role: 'model', model: 'm' },
    absent: ['inputMessages', 'outputMessages'],
  },
];

describe('genkit', () => {
  testCases(genkit, cases);
});
