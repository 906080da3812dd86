// The studio begins here: theme, requests that are kept, routes.
import "./theme/styles";
import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { requests } from "./requests";
import { router } from "./router";
import { Session } from "./shell/Session";
import { Toasts } from "./shell/toasts";
import { theme } from "./theme/theme";

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <QueryClientProvider client={requests}>
        <Session>
          <RouterProvider router={router} />
        </Session>
        <Toasts />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
