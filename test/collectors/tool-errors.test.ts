/** A result that MCP marks as an error is a failure, under any name of a dialect. */
import { describe, expect, test } from 'vitest';
import { onlyTrace } from '../builders/assembled.ts';
import { span, type SpanData } from '../builders/spans.ts';

const result = '{"content":[{"type":"text","text":"no hotel in Osaka"}],"isError":true}';
const execute = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 't' };

const forms: readonly { readonly name: string; readonly span: Omit<SpanData, 'id'> }[] = [
  { name: 'GenAI conventions', span: { attributes: { ...execute, 'gen_ai.tool.call.result': result } } },
  {
    name: 'OpenInference',
    span: { attributes: { 'openinference.span.kind': 'TOOL', 'tool.name': 't', 'input.value': '{}', 'output.value': result } },
  },
  { name: 'hand-made spans', span: { attributes: { 'tool.name': 't', 'output.value': result } } },
  {
    name: 'Vercel AI SDK',
    span: { attributes: { 'ai.operationId': 'ai.toolCall', 'ai.toolCall.name': 't', 'ai.toolCall.result': result } },
  },
  { name: 'Langfuse', span: { name: 't', attributes: { 'langfuse.observation.type': 'tool', 'langfuse.observation.output': result } } },
  { name: 'LangSmith', span: { name: 't', attributes: { 'langsmith.span.kind': 'tool', 'gen_ai.completion': result } } },
  { name: 'MLflow', span: { name: 't', attributes: { 'mlflow.spanType': '"TOOL"', 'mlflow.spanOutputs': result } } },
  { name: 'Genkit', span: { attributes: { 'genkit:name': 't', 'genkit:metadata:subtype': 'tool', 'genkit:output': result } } },
  {
    name: 'OpenLLMetry',
    span: { attributes: { 'traceloop.span.kind': 'tool', 'traceloop.entity.name': 't', 'traceloop.entity.output': result } },
  },
  {
    name: 'Strands',
    span: { scope: 'strands.telemetry.tracer', attributes: execute, events: [{ name: 'gen_ai.choice', attributes: { message: result } }] },
  },
  {
    name: 'Google ADK',
    span: {
      scope: 'gcp.vertex.agent',
      name: 'execute_tool t',
      attributes: { 'gen_ai.tool.name': 't', 'gcp.vertex.agent.tool_response': result },
    },
  },
  {
    name: 'Spring AI',
    span: { attributes: { 'spring.ai.kind': 'tool_call', 'spring.ai.tool.definition.name': 't', 'spring.ai.tool.call.result': result } },
  },
  {
    name: 'Pydantic AI',
    span: { scope: 'pydantic-ai', name: 'running tool', attributes: { 'gen_ai.tool.name': 't', tool_response: result } },
  },
  {
    name: 'Claude Agent SDK',
    span: {
      scope: 'com.anthropic.claude_code.tracing',
      attributes: { 'span.type': 'tool', tool_name: 't', tool_use_id: 'c1' },
      events: [{ name: 'tool.output', attributes: { output: result } }],
    },
  },
  {
    name: 'OpenLIT',
    span: {
      scope: 'openlit.instrumentation.langchain',
      attributes: { ...execute, 'gen_ai.tool.call.result': `content='${result}' name='t' tool_call_id='c1'` },
    },
  },
  { name: 'Laminar', span: { name: 't', attributes: { 'lmnr.span.type': 'TOOL', 'lmnr.span.output': result } } },
  {
    name: 'Logfire',
    span: { scope: 'logfire.openai_agents', attributes: { 'logfire.msg_template': 'Function: {name}', name: 't', output: result } },
  },
  {
    name: 'MCP',
    span: { kind: 3, attributes: { 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': 't', 'gen_ai.tool.call.result': result } },
  },
];

describe('tool-errors', () => {
  for (const { name, span: data } of forms) {
    test(`tool-errors: ${name}`, () => {
      const { toolCalls } = onlyTrace([
        span({ id: 1, name: 'run', start: 0, end: 9, attributes: { 'agent.name': 'a' } }),
        span({ ...data, id: 2, parent: 1 }),
      ]);
      expect(toolCalls).toMatchObject([
        { name: 't', executed: true, result: 'no hotel in Osaka', error: { message: 'no hotel in Osaka', sign: 'result_status' } },
      ]);
    });
  }
});
