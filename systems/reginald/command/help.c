/* The help of a plugin's command, made of what the plugin says about it. */
#include "systems/reginald/command/settings.h"
#include "systems/reginald/command/work.h"

#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

enum { INDENT = 26 };

static void put(const char *text) {
    cli_put_safe(stdout, dx_str(text ? text : ""));
}

/* "(5; $REGINALD_SLEEP_TIME)". */
static void put_sources(const dx_reginald_entry *entry, const char *scope) {
    const dx_reginald_value *value = &entry->value;
    char variable[256];
    settings_variable(scope, entry, variable);
    fputs(" (", stdout);
    if (value->type == DX_REGINALD_INT)
        printf("%lld", (long long)value->number);
    else if (value->type == DX_REGINALD_BOOL)
        fputs(value->number ? "true" : "false", stdout);
    else if (value->text && *value->text)
        put(value->text);
    else
        fputs("none", stdout);
    if (*variable) {
        fputs("; $", stdout);
        put(variable);
    }
    fputs(")\n", stdout);
}

static void put_flag(const dx_reginald_entry *entry, const char *scope) {
    const char *name = flags_name(entry);
    size_t width = 4 + strlen(name);
    fputs("  ", stdout);
    if (entry->shorthand) {
        putchar('-');
        cli_put_safe(stdout, (dx_text){&entry->shorthand, 1});
        fputs(", ", stdout);
        width += 4;
    }
    fputs("--", stdout);
    put(name);
    if (entry->value.type != DX_REGINALD_BOOL) {
        fputs(entry->value.type == DX_REGINALD_INT ? " INT" : " TEXT", stdout);
        width += entry->value.type == DX_REGINALD_INT ? 4 : 5;
    }
    if (width + 2 > INDENT)
        printf("\n%*s", INDENT, "");
    else
        printf("%*s", (int)(INDENT - width), "");
    put(entry->usage && *entry->usage ? entry->usage : entry->value.key);
    put_sources(entry, scope);
}

static void put_flags(const dx_reginald_entry *entries, const char *title, const char *name,
                      const char *scope) {
    bool first = true;
    for (; entries && entries->value.key; entries++) {
        if (!entries->has_flag)
            continue;
        if (first) {
            printf("\n%s", title);
            put(name);
            fputs(":\n", stdout);
        }
        first = false;
        put_flag(entries, scope);
    }
}

/* What has no flag comes from the file and the environment. */
static void put_others(const dx_reginald_entry *entries, const char *table, const char *scope) {
    bool first = true;
    for (; entries && entries->value.key; entries++) {
        if (entries->has_flag)
            continue;
        if (first) {
            printf("\nSettings of [%s.", table);
            put(scope);
            fputs("] in the configuration:\n", stdout);
        }
        first = false;
        fputs("  ", stdout);
        put(entries->value.key);
        printf(", %s", settings_type(entries->value.type));
        if (entries->usage && *entries->usage) {
            fputs(": ", stdout);
            put(entries->usage);
        }
        put_sources(entries, scope);
    }
}

void help_put(const dx_reginald_offer *command) {
    const char *plugin = dx_reginald_guest_name(command->guest);
    const dx_reginald_entry *of_plugin = dx_reginald_guest_settings(command->guest);
    fputs("Usage: duplex reginald [OPTION...] ", stdout);
    put(command->name);
    fputs(" [FLAG...] [ARG...]\n\n", stdout);
    if (command->usage && *command->usage) {
        put(command->usage);
        putchar('\n');
    }
    fputs("A command of the plugin ", stdout);
    put(plugin);
    putchar(' ');
    put(dx_reginald_guest_version(command->guest));
    putchar('\n');
    put_flags(command->settings, "Flags", "", command->name);
    put_flags(of_plugin, "Flags of the plugin ", plugin, plugin);
    put_others(command->settings, "commands", command->name);
    put_others(of_plugin, "plugins", plugin);
    fputs("\n'duplex reginald --help' lists the options that go before the command.\n", stdout);
}
