# duplex_page(TARGET FOLDER): the page of `duplex timeline` becomes bytes in the target. page.html has
# @STYLE@ and @SCRIPT@ where page.css and the scripts go, @POLICY@ where the browser is told their
# hashes, and @DATA@ where the page is cut in two.
#
# As a script (cmake -D FOLDER=… -D OUTPUT=… -P) it writes that file.

# In the order in which they stand in the page.
set(page_scripts data.js text.js layout.js draw.js map.js table.js detail.js page.js)

# What a Content-Security-Policy calls a text: sha256- and its hash in base64.
function(page_hash text result)
    set(digits ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
    string(SHA256 hash "${text}")
    set(base64 "")
    # 32 bytes are ten groups of three, and one of two.
    foreach(group RANGE 0 10)
        math(EXPR at "${group} * 6")
        string(SUBSTRING "${hash}00" ${at} 6 three)
        foreach(shift 18 12 6 0)
            math(EXPR digit "(0x${three} >> ${shift}) & 63")
            string(SUBSTRING ${digits} ${digit} 1 letter)
            string(APPEND base64 ${letter})
        endforeach()
    endforeach()
    string(REGEX REPLACE ".$" "=" base64 ${base64})
    set(${result} "sha256-${base64}" PARENT_SCOPE)
endfunction()

# CMake's own reading of a file would take semicolons and brackets for lists: as digits it can't.
function(page_bytes name text)
    string(HEX "${text}" hex)
    string(LENGTH "${hex}" length)
    math(EXPR length "${length} / 2")
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
    file(APPEND ${OUTPUT} "extern const unsigned char ${name}[];\nextern const size_t ${name}_len;\n")
    file(APPEND ${OUTPUT} "const unsigned char ${name}[] = {${bytes}};\nconst size_t ${name}_len = ${length};\n")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
    file(READ ${FOLDER}/page.html page)
    file(READ ${FOLDER}/page.css style)
    set(script "")
    foreach(name IN LISTS page_scripts)
        file(READ ${FOLDER}/${name} text)
        string(APPEND script "${text}")
    endforeach()
    if("${style}${script}" MATCHES "</")
        message(FATAL_ERROR "a style or script of ${FOLDER} has \"</\" in it, which would end it")
    endif()
    page_hash("${style}" style_hash)
    page_hash("${script}" script_hash)
    string(REPLACE "@POLICY@" "default-src 'none'; style-src '${style_hash}'; script-src '${script_hash}'; base-uri 'none'; form-action 'none'" page "${page}")
    string(REPLACE "@STYLE@" "${style}" page "${page}")
    string(REPLACE "@SCRIPT@" "${script}" page "${page}")
    string(FIND "${page}" "@DATA@" cut)
    string(SUBSTRING "${page}" 0 ${cut} top)
    math(EXPR cut "${cut} + 6")
    string(SUBSTRING "${page}" ${cut} -1 bottom)
    file(WRITE ${OUTPUT} "#include <stddef.h>\n")
    page_bytes(cli_page_top "${top}")
    page_bytes(cli_page_bottom "${bottom}")
    return()
endif()

set(page_maker ${CMAKE_CURRENT_LIST_FILE})

function(duplex_page target folder)
    set(output ${PROJECT_BINARY_DIR}/timeline-page.c)
    list(TRANSFORM page_scripts PREPEND ${folder}/ OUTPUT_VARIABLE scripts)
    add_custom_command(
        OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -D FOLDER=${folder} -D OUTPUT=${output} -P ${page_maker}
        DEPENDS ${page_maker} ${folder}/page.html ${folder}/page.css ${scripts}
        VERBATIM)
    target_sources(${target} PRIVATE ${output})
endfunction()
