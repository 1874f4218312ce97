/** The format of a recording's `expected.json`: what the agent really did. */

export interface ExpectedCall {
  readonly id?: string;
  readonly name: string;
  readonly arguments: unknown;
  readonly result?: unknown;
  readonly error?: { readonly message: string; readonly type?: string };
  readonly result_as_the_model_saw_it?: unknown;
  readonly parallel_group?: number;
  readonly framework_internal?: boolean;
}

export interface ExpectedTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: unknown;
}

export interface ExpectedSubAgent {
  readonly agent_name: string;
  readonly via: 'handoff' | 'tool' | 'child_span';
  readonly via_tool: string | null;
  readonly tool_calls: readonly ExpectedCall[];
  readonly tools: readonly ExpectedTool[];
}

export interface ExpectedTrace {
  readonly agent_name: string | null;
  readonly session_id: string | null;
  readonly otlp_trace_id: string | null;
  readonly split_over_otlp_traces?: readonly string[];
  readonly input: string | null;
  readonly final_response: string | null;
  readonly status?: 'error';
  readonly tool_calls: readonly ExpectedCall[];
  readonly tools: readonly ExpectedTool[];
  readonly llm_calls: number;
  readonly tokens?: { readonly input: number; readonly output: number };
  readonly model?: string;
  readonly system_prompt?: string;
  readonly sub_agents: readonly ExpectedSubAgent[];
}

/** The recorded instrumentation, and the framework under it where that is another package. */
export interface Source {
  readonly package: string;
  readonly version: string;
  readonly framework: string | null;
  readonly framework_version: string | null;
  readonly language?: string;
  /** The documentation that a case was written from instead of a recording. */
  readonly pages?: readonly string[];
}

export interface ExpectedRecording {
  readonly source: Source;
  readonly dialect: string;
  readonly scenario: string;
  readonly files: readonly {
    readonly file: string;
    readonly kind: 'traces' | 'logs' | 'metrics';
    readonly content_type: string;
    readonly content_encoding: string | null;
  }[];
  readonly decoded: { readonly spans: number; readonly log_records: number; readonly otlp_traces: number };
  readonly traces: readonly ExpectedTrace[];
  readonly other_otlp_traces: readonly { readonly otlp_trace_id: string; readonly root_spans: readonly string[] }[];
  readonly not_carried: readonly string[];
  readonly partly_carried: readonly string[];
  readonly only_in_logs: readonly string[];
}
