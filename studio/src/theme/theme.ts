// Colours, sizes and defaults of the component library. Spacing and surfaces are in tokens.css.
import { createTheme, type MantineColorsTuple } from "@mantine/core";

/** The blue of a rook's feathers. 6 is for fills on light, 4 for text on dark. */
const rook: MantineColorsTuple = [
  "#eef0fc",
  "#dcdff8",
  "#bbc1f1",
  "#98a1e9",
  "#7c87e2",
  "#5560cf",
  "#3d47b8",
  "#343da0",
  "#2b3384",
  "#22286a",
];

const gray: MantineColorsTuple = [
  "#f7f8fa",
  "#eff0f4",
  "#e3e5eb",
  "#d2d5de",
  "#b4b8c5",
  "#8c91a1",
  "#636878",
  "#484c5b",
  "#2f3340",
  "#1b1d27",
];

const dark: MantineColorsTuple = [
  "#dfe1e9",
  "#b6bac8",
  "#9297a8",
  "#686d80",
  "#3b3f50",
  "#2b2e3c",
  "#212430",
  "#191b25",
  "#13151d",
  "#0d0e14",
];

export const theme = createTheme({
  colors: { rook, gray, dark },
  primaryColor: "rook",
  primaryShade: { light: 6, dark: 5 },
  fontFamily:
    'Inter, "Segoe UI Variable Text", "SF Pro Text", -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif',
  fontFamilyMonospace: '"JetBrains Mono", "SF Mono", "Cascadia Mono", Menlo, Consolas, "Liberation Mono", monospace',
  fontSizes: { xs: "13px", sm: "14px", md: "14.5px", lg: "16px", xl: "19px" },
  headings: { fontWeight: "600" },
  defaultRadius: "md",
  radius: { xs: "3px", sm: "5px", md: "7px", lg: "10px", xl: "16px" },
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { size: "xs" } },
    ActionIcon: { defaultProps: { variant: "subtle", color: "gray", size: "md" } },
    TextInput: { defaultProps: { size: "xs" } },
    PasswordInput: { defaultProps: { size: "xs" } },
    FileInput: { defaultProps: { size: "xs" } },
    TagsInput: { defaultProps: { size: "xs" } },
    Autocomplete: { defaultProps: { size: "xs" } },
    Textarea: { defaultProps: { size: "xs" } },
    Select: { defaultProps: { size: "xs", allowDeselect: false, checkIconPosition: "right" } },
    Switch: { defaultProps: { size: "sm", withThumbIndicator: false } },
    Checkbox: { defaultProps: { size: "xs" } },
    SegmentedControl: { defaultProps: { size: "sm" } },
    Modal: {
      defaultProps: {
        centered: true,
        radius: "lg",
        styles: { title: { fontWeight: 600, fontSize: 15 } },
        overlayProps: { backgroundOpacity: 0.4, blur: 2 },
        transitionProps: { duration: 120 },
      },
    },
    Menu: { defaultProps: { shadow: "md", transitionProps: { duration: 80 } } },
    Tooltip: {
      defaultProps: {
        openDelay: 350,
        withArrow: true,
        transitionProps: { duration: 80 },
        events: { hover: true, focus: true, touch: false },
      },
    },
  },
});
