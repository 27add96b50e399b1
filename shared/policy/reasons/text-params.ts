/** Texts with parameters, such as `{name}`, checked by the compiler: a call must pass all parameters of the text. */

/** Names of the parameters of a text. */
type ParamName<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamName<Rest>
  : never;

/** The argument for the parameters of a text; absent for a text without parameters. */
export type Params<Text extends string, Value> = [ParamName<Text>] extends [never]
  ? []
  : [Readonly<Record<ParamName<Text>, Value>>];
