/**
 * Signs of a failed tool call in its result, for calls whose spans state no outcome. Each row names its source. Only the beginning of a
 * text counts, as an error further down may be what the tool was asked for. The limit also bounds the work.
 */
import { isDocument, readsAsError } from './error-messages.ts';
import { errorMember, errorShape, type ErrorShape, hintedObject } from './error-objects.ts';
import { isJsonArray, isJsonObject, member, parseJson, plainText, type JsonValue } from './json.ts';
import type { ToolCall } from './agent-trace.ts';
import type { CallHold } from './control-flow.ts';

interface ErrorSign {
  /** Name of the row or the shape. */
  readonly form: string;
  /** True when the protocol or SDK itself states the failure, so that the span's status does not matter. */
  readonly isMark: boolean;
  /** True when a tool that works may return it too, as a command does that exits with 1 or a lookup that answers 404. */
  readonly isWeak: boolean;
  readonly text: string;
}

interface Form {
  readonly form: string;
  readonly source: string;
  /** True when the SDK writes this text in place of a result. */
  readonly isMark?: true;
  /** `status`: weak unless the text names an HTTP status of 500 or more. */
  readonly isWeak?: true | 'status';
  readonly begins: RegExp;
  /** A further condition. `behind`: the last group, or the text after the match. */
  readonly holds?: (whole: string, behind: string, name: string) => boolean;
}

/** UTF-16 units of a text that are read. */
const headMax = 4_000;
/** Longer quoted texts are not parsed. */
const quotedMax = 20_000;
const excerptMax = 500;
/** UTF-16 units that must contain a hint. */
const hintMax = 300;
/** White space and zero-width characters. */
const UNSEEN = /^[\s\u200b-\u200d\u2060]{1,4000}/;

/** A text without a match has none of the forms. Alphabetical, so the engine compares common beginnings once. */
const HINT = new RegExp(
  [
    '\\*\\* \\(|bad gateway|content=|core dump|curl|denied|err|exce|fail|fatal|fehler|fel\\b|forbidden|fout|gateway time|goroutine|http|missing|no such|not found',
    "panic|rate limit|refused|reset|segm|service unavail|status|stopasync|stopiter|success|terminate|thread '|timed out|too many|tool|trace|unauthor|undefined",
    'valid|went wrong|xit|błąd|ошибк|错误|錯誤|エラー|오류|\\b[45]\\d\\d\\b',
    'fehlgeschl|échou|فشل|خطأ|שגיאה|त्रुटि|ผิดพลาด|에러|실패|失败|失敗|异常|異常|出错|出錯|できません|не удал|не вдал|помилк|грешк|σφάλμα|virhe|chyba|hiba|eroare|greška|napaka|hata|lỗi|kesalahan|feil|fejl|échec|impossib|no se (?:pudo|ha)|não foi|non è|nie uda|falló|falha',
    '\\be(?:acces|addrinuse|ai_again|busy|conn|exist\\b|host|isdir|mfile|net|noent|nospc|notdir|notfound|perm\\b|pipe\\b|rofs|timedout)',
  ].join('|'),
  'i',
);
/** Marks before the word: emphasis, brackets, emoji. */
const DECORATION = /^(?:[\s*_[(]|[\u2300-\u27bf]|\ufe0f|\ud83d[\udc00-\udfff]|\ud83e[\udc00-\udfff]){1,8}/;

const asError =
  (isBare: boolean) =>
  (whole: string, behind: string, name: string): boolean =>
    readsAsError(behind, { isBare, isException: /exception/i.test(name), whole });
const notDocument = (whole: string): boolean => !isDocument(whole);
const isShort = (whole: string): boolean =>
  whole.length <= 1_500 &&
  !isDocument(whole) &&
  !/\b(?:is|are) (?:an?|one of|the|usually|often|typically|what)\b/.test(whole.split('\n', 1)[0] ?? '');

const reasons =
  'Bad Request|Unauthorized|Payment Required|Forbidden|Not Found|Method Not Allowed|Not Acceptable|Request Timeout|Conflict|Gone|Payload Too Large|Unsupported Media Type|Unprocessable (?:Entity|Content)|Too Many Requests|Internal Server Error|Not Implemented|Bad Gateway|Service (?:Temporarily )?Unavailable|Gateway Time-?out';
const doing =
  'execut|call|runn?|invok|us|process|fetch|read|writ|open|load|pars|connect|retriev|gett|creat|updat|delet|sav|send|search|query|access|download|upload|mak|perform|import|convert|generat|decod|evaluat|list|find|book|look|comput|submitt|validat|initializ|initialis';
const verbs =
  'execute|call|run|invoke|fetch|read|write|open|load|parse|connect|retrieve|get|create|update|delete|save|send|search|query|access|download|upload|perform|import|convert|generate|decode|evaluate|list|find|book|look up|compute|submit|validate|initiali[sz]e|start|spawn|authenticate|resolve|complete|process|insert|establish';
const subjects =
  'API|Database|DB|SQL|Connection|Network|Validation|Runtime|Internal|Server|Client|Tool|Function|Timeout|Unexpected|Unknown|Permission|Authentication|Authorization|Syntax|Parse|Parsing|Execution|Unhandled|Fatal|Critical|HTTP|Request|Query|File|System|Access|Upload|Download|Service|Configuration|Config|Input|Output|Argument|Parameter|Value|Type|Key|Rate limit|OpenAI|Booking|Payment|Search';

/** The word for an error at the beginning of a message. */
const wordsElsewhere =
  'Fehler|Erreur|Errore|Erro|Fout|Fel|Feil|Fejl|Virhe|Błąd|Chyba|Hiba|Eroare|Greška|Napaka|Hata|Lỗi|Kesalahan|Σφάλμα|Ошибка|Помилка|Грешка|错误|錯誤|失败|失敗|异常|異常|エラー|오류|에러|خطأ|שגיאה|त्रुटि|ข้อผิดพลาด';
const sentencesElsewhere: readonly string[] = [
  '(?:Es ist )?[Ee]in (?:unerwarteter |interner |unbekannter )?Fehler (?:ist )?aufgetreten',
  '(?:Die |Der |Das )?(?:Verbindung|Anfrage|Abfrage|Anmeldung|Aufruf|Ausführung|Abruf|Vorgang|Suche|Authentifizierung|Zugriff|Übertragung|Download|Upload)(?: \\S{1,40}){0,4} (?:ist )?fehlgeschlagen(?:[.!:]|\\s*$)',
  "(?:La |Le |L['’])(?:connexion|requête|récupération|chargement|traitement|appel|exécution|lecture|envoi|enregistrement|authentification)(?: \\S{1,40}){0,4} a échoué(?:[.!:]|\\s*$)",
  "(?:Une erreur|Une exception)(?: \\S{1,30}){0,2} (?:s['’]est produite|est survenue)",
  "(?:Impossible (?:de |d['’])(?:se )?(?:connecter|récupérer|charger|lire|ouvrir|trouver|accéder|traiter|exécuter|joindre|contacter|envoyer|enregistrer|créer|obtenir)|Échec (?:de la |du |de l['’]|lors )(?:connexion|requête|récupération|chargement|traitement|appel|exécution|lecture|envoi|enregistrement|authentification|d))",
  '(?:Se produjo|Se ha producido|Ocurrió|Ha ocurrido) un error|No se (?:pudo|ha podido) (?:conectar|obtener|cargar|leer|abrir|encontrar|acceder|procesar|ejecutar|contactar|enviar|guardar|crear|completar)|Falló (?:la|el) (?:conexión|consulta|solicitud|petición|llamada|ejecución|carga|proceso|autenticación)',
  'Ocorreu um erro|Não foi possível (?:conectar|obter|carregar|ler|abrir|encontrar|acessar|processar|executar|contatar|enviar|salvar|criar|concluir)|Falha (?:ao (?:conectar|obter|carregar|ler|abrir|acessar|processar|executar|enviar|salvar|criar|buscar)|na (?:conexão|consulta|requisição|chamada|execução|autenticação))',
  'Si è verificato un errore|(?:Impossibile|Non è stato possibile) (?:connettersi|ottenere|caricare|leggere|aprire|trovare|accedere|elaborare|eseguire|contattare|inviare|salvare|creare|completare|recuperare)',
  'Er is een fout opgetreden|Ett fel (?:uppstod|inträffade|har uppstått)|Det oppstod en feil|Der opstod en fejl|Wystąpił błąd|Nie udało się (?:połączyć|pobrać|załadować|odczytać|otworzyć|znaleźć|przetworzyć|wykonać|wysłać|zapisać|utworzyć|uzyskać)',
  'Не удалось (?:подключиться|получить|загрузить|прочитать|открыть|найти|обработать|выполнить|отправить|сохранить|создать|установить|связаться)|Произошла ошибка|Не вдалося (?:підключитися|отримати|завантажити|прочитати|відкрити|знайти|обробити|виконати|надіслати|зберегти|створити)|Сталася помилка',
  'Bir hata oluştu|Đã xảy ra lỗi|Terjadi kesalahan|حدث خطأ|अज्ञात त्रुटि|เกิดข้อผิดพลาด',
  '[\\p{Script=Han}]{0,10}(?:操作|调用|調用|请求|請求|查询|查詢|执行|執行|连接|連接|获取|獲取|读取|讀取|保存|加载|載入|上传|下载)(?:工具|接口|数据|文件)?(?:失败|失敗|出错|出錯|异常|異常)(?:了)?(?:[，,。.!！；;]|\\s*$)',
  '(?:发生|發生|出现|出現)(?:了)?(?:未知|内部|系统)?(?:错误|錯誤|异常|異常)',
  '[^\\n。]{0,40}(?:に失敗しました|エラーが発生しました|できませんでした)',
  '[^\\n.]{0,40}(?:에 실패했습니다|오류가 발생했습니다)',
];

const forms: readonly Form[] = [
  // SDKs.
  {
    form: 'openai_agents',
    source: 'openai-agents: default_tool_error_function',
    isMark: true,
    begins: /^An error occurred while (?:running the tool|parsing tool arguments)\. Please try again/,
  },
  {
    form: 'langgraph',
    source: 'langgraph: ToolNode templates',
    isMark: true,
    begins: /^Error (?:invoking|executing) tool '[^'\n]{1,200}' with kwargs /,
  },
  {
    form: 'langgraph_fix',
    source: 'langgraph: ToolNode, older releases',
    isMark: true,
    begins: /^Error: /,
    holds: (whole) => /\n\s*[Pp]lease fix your mistakes\.\s*$/.test(whole),
  },
  {
    form: 'invalid_tool',
    source: 'langchain and langgraph: unknown tool',
    isMark: true,
    begins: /^(?:Error: )?[\w.:-]{1,128} is not a valid tool, try (?:one of|another one)/,
  },
  {
    form: 'langchain',
    source: 'langchain-core: handle_tool_error, handle_validation_error',
    isMark: true,
    begins: /^Tool (?:execution error|input validation error)[.:]?\s*$/,
  },
  {
    form: 'retry_prompt',
    source: 'pydantic-ai: RetryPromptPart',
    isMark: true,
    begins: /^(?:\d{1,4} validation errors?:|Unknown tool name: )/,
    holds: (whole) =>
      /Fix the errors and try again\.\s*$/.test(whole) ||
      /^Unknown tool name: '[^\n]{1,300}(?:Available tools: |No tools available)/.test(whole),
  },
  { form: 'model_retry', source: 'pydantic-ai: ModelRetry', isMark: true, begins: /^[^\n]{1,1000}\n\nFix the errors and try again\.\s*$/ },
  {
    form: 'crew_tool_usage',
    source: 'crewai: translations/en.json',
    isMark: true,
    begins:
      /^\s*(?:I encountered an error while trying to use the tool\. This was the error: |Error executing tool\. |You tried to use the tool [^\n]{1,200}, but it doesn't exist\.|Error: the Action Input is not a valid key, value dictionary)/,
  },
  {
    form: 'llama_index',
    source: 'llama-index: FunctionAgent, ReActAgent',
    isMark: true,
    begins:
      /^(?:Encountered error in tool call: |Tool with name \S{1,128} not found\.|Error: Could not parse output\. Please follow the thought-action-input format)/,
  },
  { form: 'execution_failed', source: 'autogen: code executors', isMark: true, begins: /^exitcode: [1-9]\d* \(execution failed\)/ },
  {
    form: 'smolagents',
    source: 'smolagents: execute_tool_call, local python executor',
    isMark: true,
    begins: /^(?:Error when executing tool \S{1,128} with arguments |Error in calling tool|Code execution failed at line ')/,
  },
  {
    form: 'semantic_kernel',
    source: 'semantic-kernel and Microsoft.Extensions.AI',
    isMark: true,
    begins:
      /^(?:Error: (?:Exception while invoking function\.|Function failed\.|Requested function "[^"\n]{1,200}" not found\.)|An error occurred while invoking the function )/,
  },
  { form: 'claude', source: 'Claude Agent SDK', isMark: true, begins: /^\s*<tool_use_error>/ },
  { form: 'claude_exit', source: 'Claude Code: Bash', isWeak: true, begins: /^Exit code [1-9]\d{0,2}(?:\n|$)/ },
  {
    form: 'tool_invocation_error',
    source: 'haystack: ToolInvocationError',
    isMark: true,
    begins: /^Failed to invoke [Tt]ool `[^`\n]{1,200}` with parameters /,
  },
  { form: 'dspy', source: 'dspy: ReAct', isMark: true, begins: /^Execution error in [\w.-]{1,128}: / },
  {
    form: 'missing_parameters',
    source: 'google-adk: missing mandatory parameters',
    isMark: true,
    begins: /^Invoking `[^`\n]{1,200}\(\)` failed as the following mandatory input parameters are not present/,
  },
  {
    form: 'mcp_error',
    source: 'modelcontextprotocol SDKs and fastmcp',
    isMark: true,
    begins: /^(?:MCP error -?\d{3,5}: |Error (?:executing|calling) tool '?[\w.:/-]{1,128}'?: |Input validation error: )/,
  },
  {
    form: 'ai_sdk',
    source: 'Vercel AI SDK',
    isMark: true,
    begins: /^(?:Model tried to call unavailable tool '|Invalid input for tool [\w.:-]{1,128}: |AI_\w{1,60}Error\b)/,
  },
  { form: 'aws', source: 'botocore: ClientError', begins: /^An error occurred \([\w.]{1,80}\) when calling the \w{1,100} operation/ },
  { form: 'tool_exception', source: 'Spring AI, MCP Java SDK', begins: /^Exception occurred in tool: / },
  {
    form: 'mcp_repr',
    source: 'MCP Python SDK: str of CallToolResult',
    isMark: true,
    begins: /^(?:_?meta=[^\n]{1,200}? )?content=\[/,
    holds: (whole) => /\bisError=True\s*$/.test(whole),
  },
  {
    form: 'langchain_repr',
    source: 'langchain-core: str and repr of ToolMessage',
    isMark: true,
    begins: /^(?:ToolMessage\()?content=['"]/,
    holds: (whole) => /[ ,]status='error'(?:[ ,)][^'\n]{0,200})?\s*$/.test(whole),
  },
  // Languages.
  {
    form: 'python',
    source: 'CPython: traceback',
    begins: /^Traceback \(most recent call last\):?(?:\s*$|\s*(?:\.\.\.|…)|\s+File "|\s*\n(?=[ \t]+\S|[\w.]+(?:Error|Exception)))/,
    holds: notDocument,
  },
  { form: 'java', source: 'JVM: uncaught exception', begins: /^Exception in thread "[^"\n]{0,200}" \S/ },
  {
    form: 'java_class',
    source: 'JVM and .NET: exception with its package, and frames or nothing behind it',
    begins: /^(?:[A-Za-z_$][\w$]*\.){2,12}[A-Z][\w$]*(?:Exception|Error|Throwable)\s*(?:$|\n\s+at )/,
  },
  {
    form: 'node',
    source: 'Node.js: uncaught error with its line of code',
    begins: /^\S{1,300}:\d+\n[^\n]{0,500}\n\s*\^+\s*\n\s*(?:Uncaught )?[\w. ]{0,60}Error\b/,
  },
  {
    form: 'go',
    source: 'Go: panic',
    begins:
      /^(?:panic: runtime error: |panic: [^\n]{1,500}\n\s*(?:\[signal |goroutine \d+ \[)|goroutine \d+ \[running\]:|fatal error: all goroutines are asleep)/,
  },
  { form: 'rust', source: 'Rust: panic', begins: /^thread '[^'\n]{1,200}' (?:\(\d+\) )?panicked at / },
  { form: 'dotnet', source: '.NET: unhandled exception', begins: /^Unhandled [Ee]xception[.:] \S/, holds: notDocument },
  {
    form: 'ruby',
    source: 'Ruby: uncaught exception',
    begins: /^[^\s:]{1,300}\.rb:\d+:in [`'‘][^\n]{1,1000}\((?:[A-Z]\w*::){0,8}[A-Z]\w*\)/,
  },
  {
    form: 'php',
    source: 'PHP: fatal and parse errors',
    begins: /^(?:PHP )?(?:Fatal|Parse|Recoverable fatal) error:\s{1,2}(?:Uncaught |syntax error, |[^\n]{1,1000} in \S+ on line \d)/,
  },
  { form: 'elixir', source: 'Elixir: exception', begins: /^\*\* \((?:(?:[A-Z]\w*\.){0,8}[A-Z]\w*Error|exit|throw|EXIT[^)\n]{0,80})\) / },
  { form: 'cpp', source: 'C++: std::terminate', begins: /^terminate called (?:after throwing an instance of|without an active exception)/ },
  {
    form: 'python_module',
    source: 'Python: exceptions named by their module, and built-in ones without the word',
    begins:
      /^(?:(?:[a-z_]\w*\.){0,8}(?:errors?|exceptions?|exc)\.[A-Z]\w*|StopIteration|StopAsyncIteration|KeyboardInterrupt|SystemExit): \S/,
    holds: notDocument,
  },
  {
    form: 'ruby_message',
    source: 'Ruby: NoMethodError and NameError',
    begins: /^undefined (?:method|local variable or method) [`'‘]/,
    holds: notDocument,
  },
  {
    form: 'python_repr',
    source: 'Python: repr of an exception',
    begins: /^(?:[A-Za-z_]\w*\.){0,8}[A-Z]\w*(?:Error|Exception)\((?:[^\n]{0,1000})\)\s*$/,
  },
  {
    form: 'python_dict',
    source: 'Python: str of a dictionary that reports an error',
    begins:
      /^\{'(?:error': (?!None\b|False\b|''|""|0\b|\[\]|\{\}|'(?:none|no error|ok)')\S|(?:status': '(?:error|failed)', '(?:message|error|error_message|reason|detail)'|(?:success|ok)': False[,}]|is_?[eE]rror': True\b))/,
  },
  { form: 'pydantic', source: 'pydantic: ValidationError', begins: /^\d{1,4} validation errors? for \S[^\n]{0,200}\n/, holds: notDocument },
  // Programs.
  {
    form: 'http_line',
    source: 'RFC 9112: status line',
    isWeak: 'status',
    begins: new RegExp(`^HTTP/\\d(?:\\.\\d)? [45]\\d\\d(?: (?:${reasons}))?\\s*(?:\\n|$)`),
  },
  {
    form: 'http_reason',
    source: 'RFC 9110: code and reason phrase, and no more',
    isWeak: 'status',
    begins: new RegExp(
      `^(?:HTTP )?(?:[Ee]rror:? )?(?:[45]\\d\\d[:,]? (?:-+ )?(?:${reasons})|Internal Server Error|Bad Gateway|Service Unavailable|Gateway Timeout|Unauthorized|Forbidden|Too Many Requests)[.!]?\\s*$`,
    ),
  },
  {
    form: 'http_client',
    source: 'requests, urllib, axios, fetch, httpx, openai',
    isWeak: 'status',
    begins:
      /^(?:[45]\d\d (?:Client|Server) Error: |HTTP Error [45]\d\d: (?!what|how|why)|(?:Client|Server) error '[45]\d\d |Request failed with status(?: code)? [45]\d\d|HTTP error!? (?:status|Status): ?[45]\d\d|(?:Received |Got )?HTTP (?:status )?[45]\d\d(?: error)?(?::|\s*$)|[Ss]tatus(?: code)?: [45]\d\d\s*(?:$|\n)|Error code: [45]\d\d - |Request failed(?: with)?:? (?:status )?[45]\d\d\b|timeout of \d+ ?ms exceeded|Response status code does not indicate success: [45]\d\d)/,
    holds: notDocument,
  },
  {
    form: 'html_page',
    source: 'web servers: error page',
    isWeak: 'status',
    begins: new RegExp(`^\\s*<(?:!doctype html|html)[^]{0,400}<title>\\s*(?:Error )?[45]\\d\\d:? ?(?:${reasons})?\\s*</title>`, 'i'),
  },
  {
    form: 'errno',
    source: 'POSIX and Windows: error numbers as runtimes write them',
    begins:
      /^(?:\[(?:Errno|WinError) -?\d+\] \S|(?:(?:connect|getaddrinfo|read|write|open|spawn|listen|query\w{0,5}) )?E(?:NOENT|ACCES|CONNREFUSED|CONNRESET|CONNABORTED|TIMEDOUT|PERM|EXIST|NOTFOUND|ISDIR|NOTDIR|MFILE|ADDRINUSE|PIPE|HOSTUNREACH|NETUNREACH|AI_AGAIN|BUSY|ROFS|NOSPC)\b(?::|\s|$))/,
    holds: isShort,
  },
  {
    form: 'shell',
    source: 'sh, bash, zsh: command or file not found',
    isWeak: true,
    begins:
      /^(?:(?:\/bin\/)?(?:ba|z|da)?sh: (?:line \d+: |\d+: )?\S{1,100}: (?:command )?not found|zsh: command not found: \S{1,100}|[\w./+-]{1,40}: (?:cannot [^\n:]{1,200}: |can't [^\n:]{1,200}: )?[^\n:]{1,300}: (?:No such file or directory|Permission denied|Is a directory|Not a directory))\s*$/,
  },
  {
    form: 'program',
    source: 'git, npm, curl, redis-cli, pip, Chromium, child processes',
    isWeak: true,
    begins:
      /^(?:fatal: (?!an? |the )\S|error: pathspec '|Command failed: \S|(?:net::)?ERR_[A-Z_]{3,60}\b|(?:Segmentation fault|Bus error)(?: \(core dumped\))?\s*$|Aborted \(core dumped\)|npm (?:ERR!|error) (?:code E|errno |syscall |\d|[A-Z]|missing )|curl: \(\d+\) \S|\(error\) [A-Z]+ \S|ERROR: (?:Could not find a version that satisfies|No matching distribution found))/,
    holds: isShort,
  },
  {
    form: 'exit_code',
    source: 'wrappers of commands',
    isWeak: true,
    begins:
      /^(?:(?:The )?(?:[Cc]ommand|[Pp]rocess|[Ss]cript)(?: '[^'\n]{1,300}')? (?:failed|exited|returned|terminated)(?: with| a)? (?:(?:non-zero )?(?:exit )?(?:code|status)) ?:? ?[1-9]\d{0,2}\b|\[?[Ee]xit(?: ?code| status):? ?[1-9]\d{0,2}\]?\s*(?:\n|$|,))/,
    holds: notDocument,
  },
  {
    form: 'short_phrase',
    source: 'libraries: the whole message',
    begins:
      /^(?:Access denied|Permission denied|Connection (?:refused|reset by peer|timed out|aborted)|(?:Request|Operation) timed out|Rate limit exceeded|Read timed out)[.!]?\s*$/i,
  },
  {
    form: 'xml',
    source: 'XML answers that are one error',
    begins: /^\s*(?:<\?xml[^>]{0,200}>\s*)?<([Ee]rror|fault|[Ff]ault|soap:Fault|function_error|tool_error)(?:\s[^>]{0,300})?>/,
    holds: (whole) => /<\/(?:[\w-]+:)?(?:error|fault|function_error|tool_error)>\s*$/i.test(whole),
  },
  // Hand-written loops.
  {
    form: 'tool_failed',
    source: 'hand-written loops',
    begins: new RegExp(`^Errors? (?:(?:while|when|in) )?(?:(?:${doing})ing )?(?:the )?(?:tool|function)\\b[^\\n:]{0,120}: \\S`),
    holds: notDocument,
  },
  {
    form: 'tool_failed_to',
    source: 'hand-written loops',
    begins:
      /^(?:The )?(?:[Tt]ool|[Ff]unction)(?: (?:call|execution|invocation)| [\w.'"`-]{1,128}| call to \S{1,128}){0,2} (?:failed|raised an? (?:exception|error)|threw an? (?:exception|error)|timed out|errored)(?:[:.,]|\s*$| with| after)/,
    holds: isShort,
  },
  {
    form: 'error_doing',
    source: 'hand-written loops',
    begins: new RegExp(`^Errors? (?:(?:while|when) )?(?:${doing})ing\\b[^\\n:]{0,120}: (\\S[^]*)`),
    holds: asError(false),
  },
  {
    form: 'failed_to',
    source: 'hand-written loops',
    begins: new RegExp(`^(?:Failed|Unable) to (?:${verbs})\\b[^\\n:]{0,200}(?::\\s(?!how|why|what|an? )\\S|[.!]?\\s*$)`),
    holds: isShort,
  },
  {
    form: 'error_occurred',
    source: 'hand-written loops',
    begins: new RegExp(
      `^(?:Sorry, )?(?:[Aa]n? (?:unexpected |internal |unknown )?(?:error|exception) (?:has )?occurred(?:[.!]?\\s*$|: ?\\S| while (?:${doing})ing\\b)|[Ss]omething went wrong[:.!])`,
    ),
    holds: isShort,
  },
  {
    form: 'got_error',
    source: 'hand-written loops',
    begins:
      /^(?:(?:I )?(?:[Gg]ot|[Ee]ncountered|[Rr]eceived) an (?:error|exception)|(?:[Ee]xception|[Ee]rror) (?:occurred|raised|thrown|encountered)(?: [^\n:]{1,80})?): \S/,
    holds: isShort,
  },
  {
    form: 'refused',
    source: 'hand-written loops',
    isWeak: true,
    begins:
      /^(?:Invalid (?:arguments?|inputs?|parameters?|requests?|API key|credentials)|Missing (?:required )?(?:arguments?|parameters?|fields?|inputs?)|Validation failed|Unauthorized|Permission denied|Access denied|Authentication failed|Authorization failed|Forbidden|Bad request)(?:: (?!an? |the )\S| for user )/,
    holds: isShort,
  },
  {
    form: 'subject_error',
    source: 'hand-written loops',
    begins: new RegExp(`^(?:(?:${subjects}) ){1,2}(?:[Ee]rror|[Ee]xception)(?: \\([^)\\n]{1,40}\\)| [45]\\d\\d)?: ?(\\S[^]*)`),
    holds: asError(true),
  },
  {
    form: 'named_error',
    source: 'Python, JavaScript, Java, Ruby, .NET: class and message',
    begins:
      /^(?:(?:Uncaught|Unhandled|Caused by:)(?: \(in promise\))? )?(?:[A-Za-z_$][\w$]*(?:\.|::)){0,12}[A-Za-z_$][\w$]*(?:Error|Exception|Fault)(?:\$\w{1,60})?(?: ?\[[\w .-]{1,60}\]| ?\([\w .,'-]{1,60}\))?[*_]{0,3}: +(\S[^]*)/,
    holds: asError(false),
  },
  {
    form: 'error',
    source: 'the word before a colon',
    begins:
      /^((?:(?:Oops|Sorry|Whoops|Uh oh)[!,.] )?(?:Uncaught (?:\(in promise\) )?)?(?:Error|Exception|ERROR|EXCEPTION))(?: ?\[[\w .-]{1,60}\]| ?\([\w .,'-]{1,60}\)| \d{1,5}(?: \(\w{5}\))?)?[*_\]]{0,3}(?: ?:[*_]{0,3}[ \t]| ?：| [-–—] |! )[*_]{0,3} {0,3}(\S[^]*)/,
    holds: asError(true),
  },
  {
    form: 'error_tag',
    source: 'the word in brackets, as loggers write it',
    begins: new RegExp(
      `^\\[(?:ERROR|Error|FATAL|Fatal|CRITICAL|EXCEPTION|Exception|FAILED|FAILURE|${wordsElsewhere})\\]\\s?[:：]?\\s?(?!\\d{4}-|(?:is|are|means|level)\\b)(\\S[^]*)`,
      'u',
    ),
    holds: asError(true),
  },
  {
    form: 'error_elsewhere',
    source: 'the word before a colon, in other languages, also with what was done',
    begins: new RegExp(
      `^(?:[\\p{Script=Han}]{0,8}(?:错误|錯誤|失败|失敗|异常|異常|出错|出錯)|(?:${wordsElsewhere})(?:\\s(?:beim?|bei der|im|при|al|lors d[eu'’]|durante|ao|vid|ved|bij|tijdens|podczas)\\s?[^\\n:：]{1,80})?|Error (?:al|durante)\\s[^\\n:：]{1,80})\\s?[:：]\\s?(\\S[^]*)`,
      'u',
    ),
    holds: asError(true),
  },
  {
    form: 'failed_elsewhere',
    source: 'the sentence that something failed, in other languages',
    begins: new RegExp(`^(?:${sentencesElsewhere.join('|')})`, 'u'),
    holds: isShort,
  },
];

/** Nested wrappers that are opened. */
const layersMax = 4;
/** Wrapper members that hold a text, and those that hold a tool's result of any type. */
const textWrapper = /^(?:result|output|content|response|text|message|return_value|value|data)$/;
const resultWrapper = /^(?:result|output|content|response|return_value|tool_?[rR]esult)$/;
/** A wrapper as JSON text. */
const WRITTEN =
  /^\s*(?:"|\{\s*"(?:result|output|content|response|text|message|return_value|value|data|tool_?[rR]esult|type)"|\[\s*\{\s*"type")/;
/** A text behind its announcement. */
const ANNOUNCED = /^\s*(?:Observation|(?:Tool |Function )?(?:[Rr]esult|[Oo]utput|[Rr]esponse)):\s+(\S[^]*)/;
/** MCP SDK of Python: a content list in the form of `str`. */
const CONTENT_REPR = /^\s*\[?TextContent\(type='text', text=(['"])/;

/** The sign of a failure in a result; `undefined` when there is none, which does not prove success. */
export function errorSign(result: JsonValue): ErrorSign | undefined {
  let layer: JsonValue | undefined = result;
  for (let depth = 0; layer !== undefined && depth < layersMax; depth++) {
    const sign = signOf(layer);
    if (sign !== undefined) return sign;
    layer = inside(layer);
  }
  return undefined;
}

/**
 * The text of a result that states a failure by itself: one that the SDK writes in place of a result, or, where no span states the outcome of the
 * call, any that reads as an error.
 */
export function failureText(result: JsonValue | undefined, { hasSpan }: { readonly hasSpan: boolean }): string | undefined {
  const sign = typeof result === 'string' ? textSign(result) : undefined;
  return typeof result === 'string' && sign !== undefined && (sign.isMark || !hasSpan) ? result : undefined;
}

function signOf(layer: JsonValue): ErrorSign | undefined {
  const object = typeof layer === 'string' ? hintedObject(layer) : layer;
  const error = object === undefined ? undefined : errorMember(object);
  if (error !== undefined) return { form: 'error_member', isMark: true, isWeak: false, text: plainText(error).slice(0, excerptMax) };
  const shape = object === undefined ? undefined : errorShape(object);
  if (shape !== undefined)
    return { form: shape.form, isMark: shape.form === 'is_error', isWeak: isWeakShape(shape), text: shape.text.slice(0, excerptMax) };
  return typeof layer === 'string' ? textSign(layer) : undefined;
}

/** An HTTP status of a server that failed. */
const SERVER_FAULT = /\b5\d\d\b|Internal Server Error|Bad Gateway|Service (?:Temporarily )?Unavailable|Gateway Time-?out/i;

function isWeakShape({ form, text }: ErrorShape): boolean {
  return form === 'exit_code' || form === 'detail' || (form === 'http_status' && !SERVER_FAULT.test(text));
}

/** The only content of a wrapper; `undefined` when the layer does not wrap anything. */
function inside(layer: JsonValue): JsonValue | undefined {
  if (typeof layer === 'string') return insideText(layer);
  if (isJsonArray(layer)) return layer.length === 1 ? partOf(layer[0]) : undefined;
  if (!isJsonObject(layer) || member(layer, 'isError') === false || member(layer, 'is_error') === false) return undefined;
  const keys = Object.keys(layer);
  const [only = ''] = keys;
  if (keys.length > 1 || !(textWrapper.test(only) || resultWrapper.test(only))) return partOf(layer);
  const held = member(layer, only);
  return resultWrapper.test(only) || typeof held === 'string' || isJsonArray(held) ? held : undefined;
}

/** The value of one part of a content list. */
function partOf(part: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(part)) return undefined;
  const type = member(part, 'type');
  const text = type === 'text' ? (member(part, 'text') ?? member(part, 'value')) : undefined;
  return typeof text === 'string' ? text : type === 'json' ? member(part, 'value') : undefined;
}

/** Recognises wrappers by their beginning, which is cheaper than the search for a hint. */
function insideText(text: string): JsonValue | undefined {
  if (text.length > quotedMax) return undefined;
  const isWritten = WRITTEN.test(text);
  const held = isWritten ? undefined : (fenced(text.trim()) ?? contentOfRepr(text) ?? ANNOUNCED.exec(text)?.[1]);
  if ((!isWritten && held === undefined) || !HINT.test(text.slice(0, hintMax))) return undefined;
  return isWritten ? parseJson(text) : held;
}

/** The text of the first part. */
function contentOfRepr(text: string): string | undefined {
  const [opening = '', quote = ''] = CONTENT_REPR.exec(text) ?? [];
  const rest = text.slice(opening.length);
  const end = quote === '' ? -1 : rest.search(quote === "'" ? /'(?:, |\))/ : /"(?:, |\))/);
  return end === -1 ? undefined : rest.slice(0, end).replaceAll(String.raw`\n`, '\n');
}

/** The content of a text that is one code block. */
function fenced(text: string): string | undefined {
  const opening = /^```\w{0,20}[ \t]{0,20}\n/.exec(text)?.[0];
  return opening !== undefined && text.endsWith('```') ? text.slice(opening.length, -3) : undefined;
}

function textSign(text: string): ErrorSign | undefined {
  const start = text.slice(0, headMax).replace(UNSEEN, '');
  if (!HINT.test(start.slice(0, hintMax))) return undefined;
  const plain = start.replace(DECORATION, '');
  for (const one of forms) {
    const match = one.begins.exec(start) ?? (plain === start ? null : one.begins.exec(plain));
    if (match === null) continue;
    const whole = match.input;
    const behind = match.at(-1) ?? '';
    if (one.holds?.(whole, match.length > 1 ? behind : whole.slice(match[0].length), match[1] ?? '') === false) continue;
    const isWeak = one.isWeak === 'status' ? !SERVER_FAULT.test(start.slice(0, hintMax)) : one.isWeak === true;
    return { form: one.form, isMark: one.isMark === true, isWeak, text: start.slice(0, excerptMax) };
  }
  return undefined;
}

/** How a call ended: held, failed, returned, or requested without a sign that it ran. Metrics, stores and evaluators share this definition. */
export function callEnd(call: ToolCall): 'failed' | 'returned' | 'not_executed' | CallHold {
  if (call.hold !== undefined) return call.hold;
  if (call.error !== undefined) return 'failed';
  if (!call.executed) return 'not_executed';
  return failureSign(call) === undefined ? 'returned' : 'failed';
}

/**
 * The weight of the status of a tool's span. trust: OK is a success, unless the SDK writes an error in place of the result. weigh: OK outweighs weak
 * signs only, because many SDKs set it on every span. ignore: the status has no weight.
 */
export const statusUses = ['weigh', 'trust', 'ignore'] as const;
export type StatusUse = (typeof statusUses)[number];

/** The sign of a failure in a result, unless the status of the span outweighs it. */
export function failureSign(call: ToolCall, use: StatusUse = 'weigh'): ErrorSign | undefined {
  const sign = signInResult(call);
  if (sign === undefined || call.statedOk !== true || use === 'ignore' || sign.isMark) return sign;
  return use === 'weigh' && !sign.isWeak ? sign : undefined;
}

/** The sign in the result, under any status of the span. A truncated result still has its beginning. */
export function signInResult({ result, truncated }: ToolCall): ErrorSign | undefined {
  const seen = result ?? truncated?.result;
  return seen === undefined ? undefined : errorSign(seen);
}

/** Duration of a call; `undefined` when an end is unknown or lies before the start. */
export function tookNano({ startUnixNano, endUnixNano }: Pick<ToolCall, 'startUnixNano' | 'endUnixNano'>): bigint | undefined {
  return startUnixNano === undefined || endUnixNano === undefined || endUnixNano < startUnixNano ? undefined : endUnixNano - startUnixNano;
}
