// A field that filters what is shown.
import { TextInput } from "@mantine/core";
import { Icon } from "../theme/icons";

type Props = {
  label: string;
  placeholder: string;
  value: string;
  onChange: (value: string) => void;
  className?: string | undefined;
};

export function FilterField({ label, placeholder, value, onChange, className }: Props) {
  return (
    <TextInput
      className={className ?? ""}
      placeholder={placeholder}
      aria-label={label}
      leftSection={<Icon name="search" size={13} />}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
