/* The models that need no network: scripts, and rules for plain sentences. */
#include "autohand/model_talk.h"

static char path[64];

static void write_script(const char *text) {
    strcpy(path, "/tmp/model-script-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    (void)close(fd);
}

static struct talk *follow(const char *text) {
    struct talk *talk = talk_new();
    dx_error error = {0};
    if (text)
        write_script(text);
    dx_status status =
        dx_autohand_model_script(talk->loop, text ? path : NULL, NULL, &talk->model, &error);
    if (text)
        (void)unlink(path);
    if (status != DX_OK)
        fail_msg("%s", error.phrase);
    return talk;
}

#define NONE "fail(unknown,0,0,the script has no step for this)"

static void steps(void **state) {
    (void)state;
    struct talk *talk = follow("# a script\n"
                               "{\"match\":\"one\",\"text\":\"1\",\"tokens\":5}\n"
                               "\r\n"
                               "{\"match\":\"two\",\"thought\":\"hm\",\"text\":\"2\"}\r\n"
                               "{\"toolCalls\":[{\"id\":\"a\",\"name\":\"x\",\"args\":{\"b\":[1]}},"
                               "{\"name\":\"y\"},{\"name\":\"z\",\"args\":\"{broken\"}]}\n"
                               "{\"match\":\"thrice\",\"repeat\":3,\"text\":\"3\"}\n"
                               "{\"match\":\"ever\",\"repeat\":true,\"text\":\"!\"}");
    assert_string_equal(talk->model->name, "script");
    talk_hears(talk, "two!", "thought(hm)text(2)done(-1)");
    talk_hears(talk, "one", "text(1)done(5)");
    talk_hears(talk, "one", "call(a,x,{\"b\":[1]})call(,y,{})call(,z,{broken)done(-1)");
    talk_hears(talk, "one", NONE);
    for (int i = 0; i < 3; i++)
        talk_hears(talk, "thrice", "text(3)done(-1)");
    talk_hears(talk, "thrice", NONE);
    for (int i = 0; i < 10; i++)
        talk_hears(talk, "for ever", "text(!)done(-1)");
    talk_free(talk);
}

static void hears(struct talk *talk, const char *messages, const char *heard) {
    talk->heard[0] = '\0';
    assert_int_equal(talk_try(talk, messages), DX_OK);
    talk_run(talk);
    assert_string_equal(talk->heard, heard);
}

static void roles(void **state) {
    (void)state;
    struct talk *talk =
        follow("{\"role\":\"tool\",\"match\":\"x\",\"text\":\"t\",\"repeat\":true}\n"
               "{\"role\":\"user\",\"text\":\"u\",\"repeat\":true}\n");
    hears(talk, "[{\"role\":\"user\",\"content\":\"x\"}]", "text(u)done(-1)");
    hears(talk, "[{\"role\":\"user\"},{\"role\":\"tool\",\"content\":\"xy\"}]", "text(t)done(-1)");
    hears(talk, "[{\"role\":\"tool\",\"content\":\"y\"}]", NONE);
    /* Notes of the system are not what is answered. */
    hears(talk,
          "[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"},{\"text\":\"x\"}]},"
          "{\"role\":\"system\",\"content\":\"x\"}]",
          "text(u)done(-1)");
    hears(talk, "[]", NONE);
    hears(talk, "[7]", NONE);
    talk_free(talk);
}

static void pieces(void **state) {
    (void)state;
    struct talk *talk = follow("{\"text\":\"aäß世b\",\"pieces\":3}\n"
                               "{\"text\":\"ab\",\"pieces\":5}\n"
                               "{\"pieces\":[\"x\",\"\",\"yz\"]}\n"
                               "{\"text\":\"abcd\",\"pieces\":4,\"pieceMs\":50,\"delayMs\":100}\n"
                               "{\"text\":\"\",\"pieces\":4}\n");
    talk_ask(talk, "x");
    talk_run(talk);
    assert_int_equal(talk->texts, 3);
    assert_string_equal(talk->heard, "text(aä)text(ß世)text(b)done(-1)");
    talk_hears(talk, "x", "text(a)text(b)done(-1)");
    talk_hears(talk, "x", "text(x)text(yz)done(-1)");
    uint64_t before = talk_now();
    talk_hears(talk, "x", "text(a)text(b)text(c)text(d)done(-1)");
    assert_in_range(talk_now() - before, 300, 2000);
    talk_hears(talk, "x", "done(-1)");
    talk_free(talk);
}

static void errors(void **state) {
    (void)state;
    struct talk *talk = follow("{\"error\":{\"message\":\"no\\nmore\"}}\n"
                               "{\"text\":\"a\",\"error\":{\"message\":\"m\",\"status\":429,"
                               "\"retryAfterMs\":70}}\n"
                               "{\"error\":{\"message\":\"m\",\"kind\":\"timeout\"}}\n"
                               "{\"error\":{\"message\":\"m\",\"status\":500,\"kind\":\"network\","
                               "\"retryable\":false}}\n");
    talk_hears(talk, "x", "fail(unknown,0,0,no more)");
    talk_hears(talk, "x", "text(a)fail(rate_limit,429,1,m)");
    assert_int_equal(talk->failure.retry_after_ms, 70);
    talk_hears(talk, "x", "fail(timeout,0,0,m)");
    talk_hears(talk, "x", "fail(network,500,0,m)");
    talk_free(talk);
}

static void wrong_scripts(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
    } wrong[] = {
        {"{}\n[]", ":2: expected an object"},
        {"{}\n\n{", ":3: "},
        {"{\"txt\":\"a\"}", ":1: expected only match, role"},
        {"{\"text\":1}", "expected strings"},
        {"{\"match\":null}", "expected strings"},
        {"{\"delayMs\":-1}", "delayMs, pieceMs: expected milliseconds, at most an hour"},
        {"{\"delayMs\":3600001}", "delayMs, pieceMs: expected milliseconds, at most an hour"},
        {"{\"pieces\":0}", "pieces: expected"},
        {"{\"pieces\":[1]}", "pieces: expected strings"},
        {"{\"pieces\":[\"a\"],\"text\":\"a\"}",
         "pieces and text cannot be used together if pieces are strings"},
        {"{\"repeat\":0}", "repeat: expected"},
        {"{\"repeat\":false}", "repeat: expected"},
        {"{\"role\":\"assistant\"}", "role: expected"},
        {"{\"tokens\":\"1\"}", "tokens: expected"},
        {"{\"toolCalls\":{}}", "toolCalls: expected an array"},
        {"{\"toolCalls\":[{\"args\":{}}]}", "with a name"},
        {"{\"toolCalls\":[{\"name\":\"a\",\"id\":1}]}", "id: expected"},
        {"{\"toolCalls\":[{\"name\":\"a\",\"arguments\":1}]}", "expected only id, name and args"},
        {"{\"error\":\"x\"}", "error: expected"},
        {"{\"error\":{\"message\":\"a\",\"status\":1000}}", "status: expected"},
        {"{\"error\":{\"message\":\"a\",\"kind\":\"odd\"}}", "kind: expected"},
        {"{\"error\":{\"message\":\"a\",\"more\":1}}", "error: expected only message"},
        {"{\"text\":\"\xff\"}", ":1: "},
    };
    struct talk *talk = talk_new();
    dx_error error = {0};
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        write_script(wrong[i].text);
        assert_int_equal(dx_autohand_model_script(talk->loop, path, NULL, &talk->model, &error),
                         DX_ERR_INVALID);
        if (!strstr(error.phrase, wrong[i].why))
            fail_msg("%s: %s", wrong[i].text, error.phrase);
        (void)unlink(path);
    }
    assert_int_equal(
        dx_autohand_model_script(talk->loop, "/nonexistent", NULL, &talk->model, &error),
        DX_ERR_INVALID);
    assert_string_equal(error.phrase, "cannot read /nonexistent: No such file or directory");
    assert_int_equal(dx_autohand_model_script(talk->loop, "/", NULL, &talk->model, &error),
                     DX_ERR_INVALID);
    talk_free(talk);
}

/* Only the calls of an answer to a sentence. */
static void understands(const char *sentence, const char *calls) {
    struct talk *talk = follow(NULL);
    talk_ask(talk, sentence);
    talk_run(talk);
    char *end = strstr(talk->heard, "done(");
    assert_non_null(end);
    *end = '\0';
    assert_string_equal(talk->heard, calls);
    talk_free(talk);
}

static void sentences(void **state) {
    (void)state;
    understands("create file a.txt with hello world",
                "call(,write_file,{\"path\":\"a.txt\",\"contents\":\"hello world\\n\"})");
    understands("Please create a new file named 'my file' containing \"a\\tb\\n\"",
                "call(,write_file,{\"path\":\"my file\",\"contents\":\"a\\tb\\n\"})");
    understands("Create file x with the text: `\\n`",
                "call(,write_file,{\"path\":\"x\",\"contents\":\"\\\\n\"})");
    understands("create the file a/b.c.",
                "call(,write_file,{\"path\":\"a/b.c\",\"contents\":\"\"})");
    understands("create file a with:\n#!/bin/sh\necho then\n",
                "call(,write_file,{\"path\":\"a\",\"contents\":\"#!/bin/sh\\necho then\\n\"})");
    /* Only what stands for the text is none of it. */
    understands("create file a with the end of a new text",
                "call(,write_file,{\"path\":\"a\",\"contents\":\"the end of a new text\\n\"})");
    understands("create file a, with the following content:\nthe\nb\n",
                "call(,write_file,{\"path\":\"a\",\"contents\":\"the\\nb\\n\"})");
    understands("create file a with 'b c'.",
                "call(,write_file,{\"path\":\"a\",\"contents\":\"b c\"})");
    understands("replace a by b in f.txt",
                "call(,search_replace,{\"path\":\"f.txt\",\"search\":\"a\",\"replace\":\"b\"})");
    understands("REPLACE 'by in' WITH \"in \\\"x\\\"\" in the file f",
                "call(,search_replace,{\"path\":\"f\",\"search\":\"by in\","
                "\"replace\":\"in \\\"x\\\"\"})");
    understands("replace one in two by three in one in four",
                "call(,search_replace,{\"path\":\"four\",\"search\":\"one in two\","
                "\"replace\":\"three in one\"})");
    understands("delete the file a", "call(,delete_path,{\"path\":\"a\"})");
    understands("remove a/b", "call(,delete_path,{\"path\":\"a/b\"})");
    understands("show me README.md.", "call(,read_file,{\"path\":\"README.md\"})");
    understands("show me the contents of the file a.", "call(,read_file,{\"path\":\"a\"})");
    understands("cat of", "call(,read_file,{\"path\":\"of\"})");
    understands("read 'a b'", "call(,read_file,{\"path\":\"a b\"})");
    understands("list files", "call(,list_tree,{})");
    understands("list the files in src", "call(,list_tree,{\"path\":\"src\"})");
    understands("search for 'x in y'", "call(,search,{\"query\":\"x in y\"})");
    understands("find main in src", "call(,search,{\"query\":\"main\",\"path\":\"src\"})");
    understands("run echo 'a  b' \"c\\\"d\" e'f'",
                "call(,run_command,{\"command\":\"echo\",\"args\":[\"a  b\",\"c\\\"d\",\"ef\"]})");
    understands("run the command: `ls -l ''`",
                "call(,run_command,{\"command\":\"ls\",\"args\":[\"-l\",\"\"]})");
    understands("run \"echo a\"", "call(,run_command,{\"command\":\"echo\",\"args\":[\"a\"]})");
    understands("run echo a > b && FOO=1 c",
                "call(,run_command,{\"command\":\"sh\",\"args\":[\"-c\","
                "\"echo a > b && FOO=1 c\"]})");
    understands("create file a with x, then run cat a and then delete a",
                "call(,write_file,{\"path\":\"a\",\"contents\":\"x\\n\"})"
                "call(,run_command,{\"command\":\"cat\",\"args\":[\"a\"]})"
                "call(,delete_path,{\"path\":\"a\"})");
    understands("show a\n\nSelected in c, lines 1-2:\n````\nrun b:\n```\nrun c\n````\nshow d",
                "call(,read_file,{\"path\":\"a\"})call(,read_file,{\"path\":\"d\"})");
    understands("Workspace: /x\nshow a\n\nshow b\n",
                "call(,read_file,{\"path\":\"a\"})call(,read_file,{\"path\":\"b\"})");
}

/* None of these is taken for a sentence, and none does harm. */
static void no_sentences(void **state) {
    (void)state;
    static const char *const odd[] = {
        "hello",   "",         "create",     "make it so", "replace a",      "replace a by b",
        "run",     "run ''",   "show",       "delete",     "then then then", "'\"`",
        "replace", "create a", "createfile", "showing x",  "search",         "run `",
    };
    for (size_t i = 0; i < LENGTH(odd); i++) {
        struct talk *talk = follow(NULL);
        assert_string_equal(talk->model->name, "offline");
        talk_ask(talk, odd[i]);
        talk_run(talk);
        if (strcmp(odd[i], "run `") != 0 &&
            strncmp(talk->heard, "text(No model is configured", 27) != 0)
            fail_msg("%s: %s", odd[i], talk->heard);
        talk_free(talk);
    }
}

static void results(void **state) {
    (void)state;
    struct talk *talk = follow(NULL);
    talk_ask(talk, "show a");
    talk_run(talk);
    hears(talk,
          "[{\"role\":\"system\",\"content\":\"s\"},{\"role\":\"user\",\"content\":\"show a\"},"
          "{\"role\":\"tool\",\"content\":\"old\"},{\"role\":\"assistant\",\"content\":null},"
          "{\"role\":\"tool\",\"content\":\" one\\n\"},{\"role\":\"system\",\"content\":\"note\"},"
          "{\"role\":\"tool\",\"content\":\"\"}]",
          "text(one\nDone.)done(34)");
    talk_free(talk);
}

/* Random words and marks: nothing but an answer comes of it. */
static void random_words(void **state) {
    (void)state;
    static const char *const words[] = {"create", "file", "with",   "replace",  "by", "in",  "run",
                                        "show",   "then", "and",    "'",        "\"", "`",   "\\",
                                        "a",      ":",    "list",   "\n",       " ",  "ä",   ".",
                                        "search", "the",  "delete", "and then", "\t", "\\n", ","};
    uint64_t seed = 42;
    struct talk *talk = follow(NULL);
    for (int i = 0; i < 3000; i++) {
        char prompt[400] = "";
        for (size_t count = 1 + unit_random(&seed, 20); count; count--) {
            strcat(prompt, words[unit_random(&seed, LENGTH(words))]);
            if (unit_random(&seed, 3))
                strcat(prompt, " ");
        }
        talk->heard[0] = '\0';
        talk->dones = 0;
        talk_ask(talk, prompt);
        talk_run(talk);
        assert_int_equal(talk->dones, 1);
    }
    talk_free(talk);
}

static void long_prompts(void **state) {
    (void)state;
    static const char *const parts[] = {"replace a:\n", "' ", "create file a with:\n", "then ",
                                        "\"\\\" "};
    struct talk *talk = follow(NULL);
    char *prompt = malloc(1000001);
    for (size_t i = 0; i < LENGTH(parts); i++) {
        size_t len = strlen(parts[i]);
        for (size_t at = 0; at < 1000000; at++)
            prompt[at] = parts[i][at % len];
        prompt[1000000] = '\0';
        uint64_t before = talk_now();
        talk_ask(talk, prompt);
        talk->model->cancel(talk->model);
        assert_true(talk_now() - before < 2000);
    }
    free(prompt);
    talk_free(talk);
}

static void inside(void **state) {
    (void)state;
    for (int rules = 0; rules < 2; rules++)
        for (int i = 0; i < 5; i++) {
            struct talk *talk =
                follow(rules ? NULL
                             : "{\"repeat\":true,\"text\":\"abc\",\"pieces\":3,\"toolCalls\":["
                               "{\"name\":\"x\"},{\"name\":\"y\"}]}");
            *(i == 0   ? &talk->free_at_text
              : i == 1 ? &talk->free_at_call
              : i == 2 ? &talk->free_at_end
              : i == 3 ? &talk->cancel_at_call
                       : &talk->cancel_at_text) = 1;
            talk_ask(talk, i == 0 || i == 4 ? "help" : "show a, then show b");
            assert_int_equal(talk_try(talk, "[]"), DX_BUSY);
            talk_run_for(talk, 30);
            assert_int_equal(talk->dones, i == 2);
            talk_free(talk);
        }
    struct talk *talk = follow(NULL);
    talk->again = 5000;
    talk_ask(talk, "x");
    talk->heard[0] = '\0';
    for (int i = 0; i < 20 && talk->again; i++) {
        talk_run_for(talk, 20);
        talk->heard[0] = '\0';
    }
    talk_free(talk);
}

static void memory(void **state) {
    (void)state;
    struct talk *talk = talk_new();
    for (int rules = 0; rules < 2; rules++) {
        size_t whole = 0;
        for (size_t at = 1; at < 1000 && !whole; at++) {
            struct unit_memory held = {.fail_at = at, .fails = 1};
            dx_allocator alloc = unit_allocator(&held);
            talk->heard[0] = '\0';
            talk->dones = talk->fails = 0;
            write_script("{\"text\":\"a\",\"toolCalls\":[{\"name\":\"b\",\"args\":{\"c\":1}}]}\n");
            dx_status status = dx_autohand_model_script(talk->loop, rules ? NULL : path, &alloc,
                                                        &talk->model, NULL);
            (void)unlink(path);
            if (status == DX_OK) {
                status = talk_try(talk, "[{\"role\":\"user\",\"content\":"
                                        "\"create file a with b, then run c d\"}]");
                if (status == DX_OK) {
                    talk_run(talk);
                    assert_int_equal(talk->dones + talk->fails, 1);
                    whole = held.count < at ? at : 0;
                }
                talk->model = dx_autohand_model_free(talk->model);
            }
            assert_true(status == DX_OK || status == DX_ERR_NOMEM);
            assert_int_equal(held.blocks, 0);
        }
        assert_true(whole > 4);
        assert_int_equal(talk->dones, 1);
    }
    talk_free(talk);
}

/* A text that is lent need not end with NUL: nothing behind it is looked at. */
static void exact_texts(void **state) {
    static const char *const texts[] = {
        "run",    "run `",  "create", "create file", "write a with",
        "show",   "show '", "list",   "search for",  "replace a by",
        "delete", "please", "then",   "run a then",  "show a with:"};
    (void)state;
    for (size_t i = 0; i < LENGTH(texts); i++) {
        struct talk *talk = follow(NULL);
        size_t len = strlen(texts[i]);
        char *exact = malloc(len);
        assert_non_null(exact);
        memcpy(exact, texts[i], len);
        yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
        yyjson_mut_val *messages = yyjson_mut_arr(doc);
        yyjson_mut_val *message = yyjson_mut_arr_add_obj(doc, messages);
        assert_true(yyjson_mut_obj_add_str(doc, message, "role", "user") &&
                    yyjson_mut_obj_add_strn(doc, message, "content", exact, len));
        dx_autohand_question question = {.model = "", .messages = messages};
        dx_autohand_listener listener = talk_listener(talk);
        assert_int_equal(talk->model->ask(talk->model, &question, &listener), DX_OK);
        yyjson_mut_doc_free(doc);
        free(exact);
        talk_run(talk);
        assert_int_equal(talk->dones, 1);
        talk_free(talk);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps),         cmocka_unit_test(roles),
        cmocka_unit_test(pieces),        cmocka_unit_test(errors),
        cmocka_unit_test(wrong_scripts), cmocka_unit_test(sentences),
        cmocka_unit_test(no_sentences),  cmocka_unit_test(results),
        cmocka_unit_test(random_words),  cmocka_unit_test(long_prompts),
        cmocka_unit_test(inside),        cmocka_unit_test(memory),
        cmocka_unit_test(exact_texts),
    };
    return cmocka_run_group_tests_name("autohand_model_script", tests, NULL, NULL);
}
