/* The same for libduplex-hermes: patches a message. */
#include <duplex/hermes.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    const char text[] = "MSH|^~\\&|A|B\rPID|1||7||DOE^JOHN\r";
    dx_hl7_config config = dx_hl7_defaults();
    dx_hl7_patch patch = {dx_str("PID.5.1"), dx_str("Doe"), 0, 0};
    dx_hl7 *hl7;
    dx_text name;
    if (dx_hl7_new(&config, dx_str(text), &hl7, NULL) != DX_OK ||
        dx_hl7_apply(hl7, &patch, NULL) != DX_OK ||
        dx_hl7_get(hl7, dx_str("PID.5"), &name) != DX_OK)
        return 1;
    printf("duplex-hermes: %.*s\n", (int)name.len, name.at);
    int good = dx_text_is(name, "Doe^JOHN");
    dx_hl7_free(hl7);
    return good ? 0 : 1;
}
