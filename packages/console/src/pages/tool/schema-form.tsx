import Form from "@rjsf/core/lib/components/Form.js"; // the index also imports a validator that compiles code
import {
  type ArrayFieldItemTemplateProps,
  ariaDescribedByIds,
  type ErrorSchema,
  ErrorSchemaBuilder,
  errorId,
  type FieldErrorProps,
  getTemplate,
  type IconButtonProps,
  type MultiSchemaFieldTemplateProps,
  type ObjectFieldTemplateProps,
  type RJSFSchema,
  type UnsupportedFieldProps,
  type ValidatorType,
  type WidgetProps,
} from "@rjsf/utils";
import { useMemo } from "react";
import { type ArgumentFault, fits } from "./argument-faults.ts";

type Args = Readonly<Record<string, unknown>>;

/** Says which of several forms a value has. What is wrong with arguments is found elsewhere, and shown here. */
const validator: ValidatorType<Args> = {
  isValid: (schema, value, root) => fits({ ...rootOf(root), ...schema }, value),
  validateFormData: () => ({ errors: [], errorSchema: {} }),
  rawValidation: () => ({}),
};

/** The parts that references lead to. */
const rootOf = ({ $defs, definitions }: RJSFSchema): object => ({
  ...($defs === undefined ? {} : { $defs }),
  ...(definitions === undefined ? {} : { definitions }),
});

const DEFAULTS = {
  emptyObjectFields: "populateRequiredDefaults",
  arrayMinItems: { populate: "requiredOnly" },
} as const;

/** A form for the arguments of a tool, made of a schema that formSchema has let through. */
export function SchemaForm({
  schema,
  args,
  faults,
  onArgs,
}: {
  readonly schema: Args;
  readonly args: Args;
  readonly faults: readonly ArgumentFault[];
  readonly onArgs: (args: Args) => void;
}) {
  const errors = useMemo(() => {
    const builder = new ErrorSchemaBuilder<Args>();
    for (const { path, words } of faults) builder.addErrors(words, [...path]);
    return builder.ErrorSchema as ErrorSchema<Args>;
  }, [faults]);
  return (
    <Form<Args>
      className="schema-form"
      tagName="div"
      idPrefix="arguments"
      schema={schema as RJSFSchema}
      formData={args}
      onChange={({ formData }) => onArgs(formData ?? {})}
      validator={validator}
      noValidate
      extraErrors={errors}
      showErrorList={false}
      templates={templates}
      widgets={widgets}
      experimental_defaultFormStateBehavior={DEFAULTS}
    >
      <span />
    </Form>
  );
}

/** Texts may have several lines. */
function TextWidget(props: WidgetProps<Args>) {
  const { id, schema, value, required, disabled, readonly, onChange, options, registry, rawErrors = [] } = props;
  const isInvalid = rawErrors.length > 0;
  if (schema.type !== "string") {
    const Input = getTemplate<"BaseInputTemplate", Args>("BaseInputTemplate", registry, options);
    return <Input {...props} aria-invalid={isInvalid} />;
  }
  return (
    <textarea
      id={id}
      rows={1}
      spellCheck={false}
      value={typeof value === "string" ? value : ""}
      required={required ?? false}
      disabled={disabled === true || readonly === true}
      aria-invalid={isInvalid}
      aria-describedby={ariaDescribedByIds(id)}
      onChange={({ target }) => onChange(target.value === "" ? options.emptyValue : target.value)}
    />
  );
}

/** Optional arguments beyond these are folded up. */
const MAX_OPEN = 12;

function ObjectFields({
  title,
  description,
  required,
  schema,
  properties,
  fieldPathId,
  onAddProperty,
  registry,
  optionalDataControl,
}: ObjectFieldTemplateProps<Args>) {
  if ((schema.oneOf ?? schema.anyOf) !== undefined && properties.length === 0) return null;
  const needed = properties.filter(({ name }) => schema.required?.includes(name));
  const optional = properties.filter(({ name }) => !schema.required?.includes(name));
  const isRoot = fieldPathId.path.length === 0;
  const { AddButton } = registry.templates.ButtonTemplates;
  return (
    <fieldset id={fieldPathId.$id} className={isRoot ? "" : "nested"}>
      {isRoot ? null : (
        <legend>
          {title}
          {required === true ? "*" : ""} {optionalDataControl}
        </legend>
      )}
      {description === undefined || isRoot ? null : <p className="quiet breaks">{description}</p>}
      {needed.map(({ content }) => content)}
      {optional.length > MAX_OPEN ? (
        <details>
          <summary>{optional.length} optional arguments</summary>
          {optional.map(({ content }) => content)}
        </details>
      ) : (
        optional.map(({ content }) => content)
      )}
      {schema.additionalProperties !== undefined && schema.additionalProperties !== false ? (
        <AddButton id={`${fieldPathId.$id}__add`} onClick={onAddProperty} registry={registry} />
      ) : null}
    </fieldset>
  );
}

function Item({ children, buttonsProps, hasToolbar, registry }: ArrayFieldItemTemplateProps<Args>) {
  const { ArrayFieldItemButtonsTemplate: Buttons } = registry.templates;
  return (
    <div className="item">
      {children}
      {hasToolbar ? (
        <div className="row">
          <Buttons {...buttonsProps} />
        </div>
      ) : null}
    </div>
  );
}

const Choice = ({ selector, optionSchemaField }: MultiSchemaFieldTemplateProps<Args>) => (
  <div className="nested">
    {/* biome-ignore lint/a11y/noLabelWithoutControl: the selector is one */}
    <label className="field">
      <span className="quiet">one of several forms</span>
      {selector}
    </label>
    {optionSchemaField}
  </div>
);

const Errors = ({ errors = [], fieldPathId }: FieldErrorProps<Args>) =>
  errors.length === 0 ? null : (
    <p id={errorId(fieldPathId)} className="is-bad breaks">
      {[...new Set(errors)].map(String).join(" ")}
    </p>
  );

const Unsupported = ({ fieldPathId }: UnsupportedFieldProps<Args>) => (
  <p className="quiet breaks">There is no field for {fieldPathId?.path.join(".")}. Write it as JSON.</p>
);

const button = (name: string) =>
  function Named({ id, onClick, disabled }: IconButtonProps<Args>) {
    return (
      <button type="button" id={id} onClick={onClick} disabled={disabled}>
        {name}
      </button>
    );
  };

const widgets = { TextWidget };
const templates = {
  ObjectFieldTemplate: ObjectFields,
  ArrayFieldItemTemplate: Item,
  MultiSchemaFieldTemplate: Choice,
  FieldErrorTemplate: Errors,
  UnsupportedFieldTemplate: Unsupported,
  ButtonTemplates: {
    AddButton: button("Add"),
    CopyButton: button("Copy"),
    RemoveButton: button("Remove"),
    MoveUpButton: button("Move up"),
    MoveDownButton: button("Move down"),
  },
};
