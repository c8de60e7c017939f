/*
 * Sources of the hierarchy: lists of names, Keel's file, Slurm's, their joining and placement by a
 * level's name. The elements' names check the content of a file; the line and the reason check the
 * refusal of a malformed file.
 */
#include "topo/choose.h"
#include "topo/topology.h"

#include "topo/hostlist.h"
#include "topo/regroup.h"
#include "topo/slurm.h"
#include "topo/topofile.h"

#include "base/memory.h"

#include "unit.h"

#include <stdarg.h>
#include <string.h>

/* ---- lists of names ---- */

typedef struct names {
    char text[512];
    unsigned count;
} names_t;

static keel_status_t names_add(void *arg, const char *name)
{
    names_t *names = arg;

    if (names->count++ < 20) {
        strcat(strcat(names->text, (names->text[0] != '\0') ? " " : ""), name);
    }
    return KEEL_OK;
}

static const char *walk(const char *list, names_t *names)
{
    uint32_t left = 1000;
    const char *why;

    memset(names, 0, sizeof(*names));
    (void)keel_hostlist_walk(list, names_add, names, &left, &why);
    return why;
}

START_TEST(lists_of_names_are_expanded_as_slurm_does)
{
    static const char *const cases[][2] = {
        {"", ""},
        {"n1", "n1"},
        {" n1 ,, n2\t", "n1 n2"},
        {"n[1-3]", "n1 n2 n3"},
        {"n[08-11]", "n08 n09 n10 n11"},
        {"n[8-11]", "n8 n9 n10 n11"},
        {"n[001-002,200]x", "n001x n002x n200x"},
        {"r[1-2]c[0-1]", "r1c0 r1c1 r2c0 r2c1"},
        {"a[1],b[2-3] c", "a1 b2 b3 c"},
        {"[7]", "7"},
        {"n[000000000]", "n000000000"},
        {"n[999999998-999999999]", "n999999998 n999999999"},
    };
    names_t names;

    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ck_assert_ptr_null(walk(cases[i][0], &names));
        ck_assert_str_eq(names.text, cases[i][1]);
    }
}
END_TEST

START_TEST(malformed_lists_of_names_are_refused)
{
    static const char *const cases[][2] = {
        {"n[1", "not closed"},
        {"n1]", "not opened"},
        {"n[]", "numbers"},
        {"n[a]", "numbers"},
        {"n[1-]", "no end"},
        {"n[-1]", "numbers"},
        {"n[1,]", "numbers"},
        {"n[,1]", "numbers"},
        {"n[2-1]", "backwards"},
        {"n[1;2]", "numbers"},
        {"n[[1]]", "numbers"},
        {"n[1 2]", "numbers"},
        {"n[1000000000]", "digits"},
        {"n[1-1000000000]", "no end"},
        {"n[1-9999]", "too many names"},
        {"[1][1][1][1][1]", "too many brackets"},
        {"n[1-2]n[1-2]n[1-9]n[0-99]", "too many names"},
    };
    char long_name[400];
    names_t names;

    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *why = walk(cases[i][0], &names);

        ck_assert_msg(why != NULL && strstr(why, cases[i][1]) != NULL, "%s: %s", cases[i][0], why);
    }
    memset(long_name, 'n', sizeof(long_name));
    strcpy(long_name + KEEL_HOSTLIST_NAME_MAX, "");
    ck_assert_ptr_null(walk(long_name, &names));
    strcpy(long_name + KEEL_HOSTLIST_NAME_MAX, "n");
    ck_assert_str_eq(walk(long_name, &names), "a name is too long");
    strcpy(long_name + KEEL_HOSTLIST_NAME_MAX - 1, "[7-8]");
    ck_assert_str_eq(walk(long_name, &names), "a name is too long");
}
END_TEST

/* ---- hosts ---- */

START_TEST(hosts_are_found_by_whole_and_by_unique_short_names)
{
    static const char *const host[] = {"b.x", "a.x", "b.x", "c", "a.y", "c.z", "d.x"};
    static const uint32_t of_rank[] = {0, 1, 0, 2, 3, 4, 5};
    keel_hosts_t hosts;

    ck_assert_int_eq(keel_hosts_make(7, host, &hosts), KEEL_OK);
    ck_assert_uint_eq(hosts.count, 6);
    ck_assert_mem_eq(hosts.of_rank, of_rank, sizeof(of_rank));
    ck_assert_uint_eq(keel_hosts_find(&hosts, "a.y"), 3);
    ck_assert_uint_eq(keel_hosts_find(&hosts, "a"), KEEL_HOST_NONE); /* ambiguous */
    ck_assert_uint_eq(keel_hosts_find(&hosts, "b"), 0);
    ck_assert_uint_eq(keel_hosts_find(&hosts, "c"), 2); /* a whole name comes before a short one */
    ck_assert_uint_eq(keel_hosts_find(&hosts, "d"), 5);
    ck_assert_uint_eq(keel_hosts_find(&hosts, "d.y"), KEEL_HOST_NONE);
    ck_assert_uint_eq(keel_hosts_find(&hosts, ""), KEEL_HOST_NONE);
    keel_hosts_release(&hosts);
}
END_TEST

/* ---- whole topologies ---- */

#define HOSTS 8

static const char *const host_names[HOSTS] = {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"};
static char said[1024];

static void say(void *arg, int is_warning, const char *text)
{
    strcat(strcat(strcat(said, is_warning ? "" : "info: "), text), "\n");
}

static keel_status_t make(const char *user, const char *slurm, keel_domains_t *domains, keel_tree_error_t *error)
{
    keel_topology_params_t params = {.ranks = HOSTS, .host = host_names, .say = say};

    said[0] = '\0';
    if (user != NULL) {
        params.user = (keel_topology_file_t){.path = "user", .text = user, .length = strlen(user)};
    }
    if (slurm != NULL) {
        params.slurm = (keel_topology_file_t){.path = "slurm", .text = slurm, .length = strlen(slurm)};
    }
    return keel_topology_make(&params, domains, error);
}

/* "level: element of rank 0, of rank 1, ...", finest first */
static void describe(const keel_domains_t *domains, char *text)
{
    text[0] = '\0';
    ck_assert_int_eq(keel_domains_check(domains), KEEL_OK);
    for (uint32_t l = 0; l < domains->level_count; l++) {
        const keel_domain_level_t *level = &domains->levels[l];
        uint32_t next = 0;

        text += sprintf(text, "%s:", level->name);
        for (uint32_t r = 0; r < domains->ranks; r++) {
            ck_assert_uint_le(level->of_rank[r], next); /* numbered in the order of first ranks */
            next += (level->of_rank[r] == next);
            text += sprintf(text, " %s", level->element_name[level->of_rank[r]]);
        }
        ck_assert_uint_eq(next, level->count);
        text += sprintf(text, "\n");
    }
}

static void expect(const char *user, const char *slurm, const char *levels, const char *what_is_said)
{
    keel_domains_t domains;
    keel_tree_error_t error;
    char text[2048];

    ck_assert_msg(make(user, slurm, &domains, &error) == KEEL_OK, "%s", error.text);
    describe(&domains, text);
    ck_assert_msg(strncmp(text, "node: n0 n1 n2 n3 n4 n5 n6 n7\n", 30) == 0, "%s", text);
    ck_assert_str_eq(text + 30, levels);
    ck_assert_str_eq(said, what_is_said);
    keel_domains_release(&domains);
}

START_TEST(keels_file_means_what_it_says)
{
    expect(NULL, NULL, "", "");
    expect("levels rack\nrack a: n[0-3]\nrack b: n[4-7]", NULL, "rack: a a a a b b b b\n", "");
    expect("# comment\n\n  levels rack row # more\nrack a: n[0-1],n9\\\n  n2 # and\nrack b: n[3-5]\nrack a: n6,n7\n"
           "row x: a\nrow y: b",
           NULL, "rack: a a a b b b a a\nrow: x x x y y y x x\n", "");
    /* Levels may list hosts directly, and elements of any finer level. */
    expect("levels rack row room\nrack a: n[0-1]\nrow x: a n[2-3]\nrow y: n[4-6]\nroom r: x y\nroom s: n7", NULL,
           "rack: a a n2 n3 n4 n5 n6 n7\nrow: x x x x y y y n7\nroom: r r r r r r r s\n", "");
    /* An element and a host of one name: the name means the element. Hosts in no element may fail
     * together. */
    expect("levels a b\na n4: n[0-3]\nb n4: n4 n5", NULL, "a: n4 n4 n4 n4 ? n5 ? ?\nb: n4 n4 n4 n4 ? n4 ? ?\n",
           "user: 3 of 8 hosts are not in it: they count as one element of each of its levels: n4, n6, n7\n");
    expect("levels rack\r\nrack a: n[0-3]\r\nrack b: n[4-7]\r\n", NULL, "rack: a a a a b b b b\n", "");
}
END_TEST

START_TEST(slurms_file_means_what_it_says)
{
    const char *two = "switch: s1 s1 s1 s1 s2 s2 s2 s2\nswitch2: s0 s0 s0 s0 s0 s0 s0 s0\n";

    expect(NULL, "SwitchName=s0 Switches=s[1-2]\nSwitchName=s1 Nodes=n[0-3]\nSwitchName=s2 Nodes=n[4-7]", two, "");
    expect("SwitchName=s0 Switches=s[1-2]\nSwitchName=s1 Nodes=n[0-3]\nSwitchName=s2 Nodes=n[4-7]", NULL, two, "");
    expect("# Slurm's in place of Keel's\n\n switchname=s1 nodes=n[0-3] linkspeed=100\n"
           "SWITCHNAME=s2 \\\n  Nodes=\"n[4-5], n[6-7]\" # rest\nSwitchName=s0 Switches=s1,s2\n",
           NULL, two, "");
    /* Three levels, and a leaf right below the top: the leaf continues as itself. */
    expect(NULL,
           "SwitchName=top Switches=mid,c\nSwitchName=mid Switches=a,b\nSwitchName=a Nodes=n[0-1]\n"
           "SwitchName=b Nodes=n[2-3]\nSwitchName=c Nodes=n[4-7]",
           "switch: a a b b c c c c\nswitch2: mid mid mid mid c c c c\nswitch3: top top top top top top top top\n", "");
    expect(NULL, "BlockName=b1 Nodes=n[0-3]\nBlockName=b2 Nodes=n[4-7]\nBlockSizes=4,8\n",
           "switch: b1 b1 b1 b1 b2 b2 b2 b2\n", "");
    expect(NULL, "SwitchName=a Nodes=n[0-3]\nSwitchName=b Nodes=n[4-5],m[1-9]\n", "switch: a a a a b b ? ?\n",
           "slurm: 2 of 8 hosts are not in it: they count as one element of each of its levels: n6, n7\n");
}
END_TEST

START_TEST(sources_are_joined_by_precedence)
{
    const char *racks = "levels rack\nrack a: n[0-3]\nrack b: n[4-7]";

    /* Switches inside racks, and racks inside switches. */
    expect(racks, "SwitchName=s1 Nodes=n[0-1]\nSwitchName=s2 Nodes=n[2-3]\nSwitchName=s3 Nodes=n[4-7]\n",
           "switch: s1 s1 s2 s2 s3 s3 s3 s3\nrack: a a a a b b b b\n", "");
    expect(racks, "SwitchName=s1 Nodes=n[0-7]", "rack: a a a a b b b b\nswitch: s1 s1 s1 s1 s1 s1 s1 s1\n", "");
    /* The same partition under another name stays, behind the level of higher precedence. */
    expect(racks, "SwitchName=s1 Nodes=n[0-3]\nSwitchName=s2 Nodes=n[4-7]",
           "rack: a a a a b b b b\nswitch: s1 s1 s1 s1 s2 s2 s2 s2\n", "");
    /* Levels that contradict the user's file are left out; other levels stay. */
    expect(racks, "SwitchName=s1 Nodes=n[0-4]\nSwitchName=s2 Nodes=n[5-7]\nSwitchName=s0 Switches=s[1-2]",
           "rack: a a a a b b b b\nswitch2: s0 s0 s0 s0 s0 s0 s0 s0\n",
           "slurm: its level switch is left out: it is not nested with what is known\n");
    expect("levels switch\nswitch a: n[0-3]\nswitch b: n[4-7]", "SwitchName=s1 Nodes=n[0-7]",
           "switch: a a a a b b b b\n",
           "slurm: its level switch is left out: a source of higher precedence has that name\n");
}
END_TEST

typedef struct refusal {
    const char *text;
    uint32_t line;
    const char *reason;
} refusal_t;

static void expect_refusals(const refusal_t *refusals, unsigned count, int is_slurm)
{
    keel_domains_t domains;
    keel_tree_error_t error;
    keel_status_t status;

    for (unsigned i = 0; i < count; i++) {
        status = make(is_slurm ? NULL : refusals[i].text, is_slurm ? refusals[i].text : NULL, &domains, &error);
        ck_assert_msg(status == KEEL_ERR_INVALID_PARAM, "accepted: %s", refusals[i].text);
        ck_assert_msg(error.line == refusals[i].line && strstr(error.text, refusals[i].reason) != NULL,
                      "%s\nrefused with line %u: %s", refusals[i].text, error.line, error.text);
        ck_assert_msg(strncmp(error.text, is_slurm ? "slurm:" : "user:", 5) == 0, "%s", error.text);
    }
}

/* ---- files that can be read but are mistaken ---- */

START_TEST(names_that_leave_gaps_are_reported)
{
    const char *rows = "rack: r1 r1 r1 r2 r2 r2 r3 r3\nrow: a a a b b b r3 r3\n";

    expect("levels rack row\nrack r1: n[0-2]\nrack r2: n[3-5]\nrack r3: n[6-7]\nrow a: r1\nrow b: rr3 r2", NULL, rows,
           "user:4: in no element of a coarser level: rack r3\n"
           "user:6: rr3 in row b is no element and no host of this job\n");
    expect("levels rack row\nrack r1: n[0-2]\nrack r2: n[3-5]\nrack r3: n[6-7]\nrow a: r1\nrow b: r2", NULL, rows,
           "user:4: in no element of a coarser level: rack r3\n");
    /* By its hosts the element is in a coarser one. Hosts of another job beside elements are no
     * mistake. */
    expect("levels rack row\nrack r1: n[0-2]\nrow a: r1 m[1-9]\nrow b: n[3-7]", NULL,
           "rack: r1 r1 r1 n3 n4 n5 n6 n7\nrow: a a a b b b b b\n", "");
    /* A file of more than this job is of no interest, unless the file misses hosts of the job. */
    expect("levels rack\nrack a: n[0-3]\nrack b: n[4-7]\nrack c: m[0-3]", NULL, "rack: a a a a b b b b\n",
           "info: user: without a host of this job: rack c\n");
    expect("levels rack\nrack a: n[0-3]\nrack b: m[4-7]", NULL, "rack: a a a a ? ? ? ?\n",
           "user: 4 of 8 hosts are not in it: they count as one element of each of its levels: n4, n5, n6, n7\n"
           "user: without a host of this job: rack b\n");
    expect(
        "levels rack\nrack a: x1", NULL, "rack: ? ? ? ? ? ? ? ?\n",
        "user: 8 of 8 hosts are not in it: they count as one element of each of its levels: n0, n1, n2, n3 and 4 more\n"
        "user: without a host of this job: rack a\n");
    expect("levels rack row\nrow a: n[0-7]", NULL, "row: a a a a a a a a\n",
           "user: its level rack is left out: it has no elements\n");
    /* A host may have the name of its own rack, or of a coarser element. */
    expect("levels rack row\nrack n0: n0 n[1-3]\nrack b: n[4-7]\nrow n1: n0 b", NULL,
           "rack: n0 n0 n0 n0 b b b b\nrow: n1 n1 n1 n1 n1 n1 n1 n1\n", "");
}
END_TEST

/* ---- files that Slurm accepts ---- */

START_TEST(levels_of_switches_that_are_no_tree_are_left_out)
{
    /* Two spines over the same leaves. */
    expect(NULL,
           "SwitchName=l1 Nodes=n[0-3]\nSwitchName=l2 Nodes=n[4-7]\nSwitchName=p1 Switches=l[1-2]\n"
           "SwitchName=p2 Switches=l[1-2]\n",
           "switch: l1 l1 l1 l1 l2 l2 l2 l2\n", "slurm:4: its level switch2 is left out: n4 is in p1 and in p2\n");
    /* The level above two such spines is a tree again. */
    expect(NULL,
           "SwitchName=l1 Nodes=n[0-1]\nSwitchName=l2 Nodes=n[2-3]\nSwitchName=l3 Nodes=n[4-7]\n"
           "SwitchName=p1 Switches=l[1-2]\nSwitchName=p2 Switches=l[1-2]\nSwitchName=p3 Switches=l3\n"
           "SwitchName=a Switches=p[1-2]\nSwitchName=b Switches=p3",
           "switch: l1 l1 l2 l2 l3 l3 l3 l3\nswitch3: a a a a b b b b\n",
           "slurm:5: its level switch2 is left out: n2 is in p1 and in p2\n");
    /* A node on two leaves. */
    expect(NULL, "SwitchName=s1 Nodes=n[0-4]\nSwitchName=s2 Nodes=n[4-7]\nSwitchName=s0 Switches=s[1-2]",
           "switch2: s0 s0 s0 s0 s0 s0 s0 s0\n", "slurm:2: its level switch is left out: n4 is in s1 and in s2\n");
    expect(NULL, "SwitchName=s1 Nodes=n[0-4]\nSwitchName=s2 Nodes=n[4-7]", "",
           "slurm:2: its level switch is left out: n4 is in s1 and in s2\n");
    /* Hosts known from such a level alone may fail together. */
    expect(
        NULL,
        "SwitchName=s1 Nodes=n[0-1]\nSwitchName=s2 Nodes=n[1-3]\nSwitchName=s3 Nodes=n[4-7]\nSwitchName=s0 Switches=s3",
        "switch2: ? ? ? ? s0 s0 s0 s0\n", "slurm:2: its level switch is left out: n1 is in s1 and in s2\n");
}
END_TEST

START_TEST(slurms_file_may_be_written_as_slurm_reads_it)
{
    const char *two = "switch: s1 s1 s1 s1 s2 s2 s2 s2\nswitch2: s0 s0 s0 s0 s0 s0 s0 s0\n";
    const char *mark = "\xef\xbb\xbfSwitchName = s0 Switches =s[1-2]\nSwitchName= s1 Nodes\t=\tn[0-3]\n"
                       "SwitchName =\"s2\"  Nodes= \"n[4-7]\" LinkSpeed = 5\n";

    expect(NULL, mark, two, "");
    expect(mark, NULL, two, "");
    /* scontrol show topology */
    expect(NULL,
           "SwitchName=s0 Level=1 LinkSpeed=1 Nodes=n[0-7] Switches=s[1-2] \n"
           "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[0-3] \nSwitchName=s2 Level=0 LinkSpeed=1 Nodes=n[4-7] \n",
           two, "");
    expect(NULL, "SwitchName=s0 Level=1 LinkSpeed=1 Nodes=n[0-7] Switches=s[1-2]\n",
           "switch2: s0 s0 s0 s0 s0 s0 s0 s0\n", "slurm: its level switch is left out: it has no elements\n");
    expect(NULL,
           "BlockName=b1 BlockIndex=0 Nodes=n[0-3] BlockSize=4\nBlockName=b2 BlockIndex=1 Nodes=n[4-7] BlockSize=4\n"
           "AggregatedBlock=b[1-2] BlockIndex=2 Nodes=n[0-7] BlockSize=8\n",
           "switch: b1 b1 b1 b1 b2 b2 b2 b2\n", "");
    /* Switches below no other switch are no gap. */
    expect(NULL, "SwitchName=s0 Switches=s1\nSwitchName=s1 Nodes=n[0-3]\nSwitchName=s2 Nodes=n[4-7]\n",
           "switch: s1 s1 s1 s1 s2 s2 s2 s2\nswitch2: s0 s0 s0 s0 s2 s2 s2 s2\n", "");
}
END_TEST

#define YAML_TREE                                                                                \
    "  tree:\n    switches:\n      - switch: s0\n        children: s[1-2]\n      - switch: s1\n" \
    "        nodes: n[0-3]\n      - nodes: \"n[4-5],n[6-7]\" # a comment\n        switch: s2\n"

START_TEST(slurms_yaml_means_what_it_says)
{
    const char *two = "switch: s1 s1 s1 s1 s2 s2 s2 s2\nswitch2: s0 s0 s0 s0 s0 s0 s0 s0\n";
    const char *blocks = "switch: b1 b1 b2 b2 b2 b2 b2 b2\n";

    expect(NULL, "---\n- topology: one\n  cluster_default: true\n" YAML_TREE, two, "");
    expect("- topology: one\n" YAML_TREE, NULL, two, "");
    /* Lists at the indentation of their keys, another order, other quotes. */
    expect(NULL,
           "%YAML 1.2\n---\n- tree:\n    switches:\n    - switch: 's0'\n      children: s[1-2]\n    - switch: s2\n"
           "      nodes: n[4-7]\n    -\n      switch: s1\n      nodes: n[0-3]\n  cluster_default: true\n...\n",
           two, "");
    /* The cluster's default, at any place; else the first topology with content. */
    expect(NULL,
           "- topology: flat\n  flat: true\n- topology: t\n  cluster_default: false\n" YAML_TREE
           "- topology: b\n  block:\n    block_sizes:\n      - 2\n      - 4\n    blocks:\n      - block: b1\n"
           "        nodes: n[0-1]\n      - block: b2\n        nodes: n[2-7]\n  cluster_default: true\n"
           "- topology: u\n" YAML_TREE,
           blocks, "");
    expect(
        NULL,
        "- topology: flat\n  flat: true\n- topology: b\n  block:\n    block_sizes: [2, 4]\n    blocks:\n"
        "      - block: b1\n        nodes: n[0-1]\n      - block: b2\n        nodes: n[2-7]\n- topology: t\n" YAML_TREE,
        blocks, "");
}
END_TEST

START_TEST(malformed_yaml_is_refused)
{
    static const refusal_t refusals[] = {
        {"---\n", 0, "it has no switches"},
        {"- topology: a\n  flat: true\n", 0, "it has no switches"},
        {"- topology a", 1, "expected KEY: VALUE at 'topology a'"},
        {"- tree:\n    switches:\n      - nodes: n1\n", 3, "without a name"},
        {"- tree:\n    switches:\n      - switch: s1\n", 3, "needs either nodes or switches"},
        {"- tree:\n    switches:\n      - switch: s1\n        nodes: n1\n        nodes: n2", 5, "given twice"},
        {"- tree:\n    switches:\n      switch: s1", 3, "a dash is missing"},
        {"- tree:\n    switches: [{switch: s1, nodes: n1}]", 2,
         "flow style is not read: write one key a line, or give what scontrol show topology prints, at '[{switch: s1"},
        {"- tree:\n    switches:\n      - {switch: s1, nodes: n1}", 3, "flow style is not read"},
        {"[{topology: a, tree: {switches: [{switch: s1, nodes: n1}]}}]", 1, "flow style is not read"},
        {"- topology: a\n  tree: {switches: [{switch: s1, nodes: n1}]}", 2, "flow style is not read"},
        {"- tree: &anchor\n    switches:\n", 1, "expected a plain value"},
        {"- tree: s1", 1, "lines below the key"},
        {"- tree:\n    switches:\n      - switch: s1\n        nodes: [n1, n2]", 4, "flow style is not read"},
        {"- tree:\n    switches:\n      - switch: s1\n        nodes: 'n1", 4, "expected a plain value"},
        {"- tree:\n    switches:\n      - switch: s1\n        nodes:\n          - n1\n", 4,
         "expected a value on the same line at 'nodes'"},
        {"- tree:\n    switches:\n      - switch: s1\n        nodes: n1\n      - switch: s1\n        nodes: n2", 5,
         "given twice"},
        {"- tree:\n    switches:\n      - switch: s1\n        nodes: n[1-]\n", 3, "no end"},
        {"- a:\n   b:\n    c:\n     d:\n      e:\n       f:\n        g:\n         h:\n          i:\n           j:\n"
         "            k:\n             l:\n              m:\n               n:\n                o:\n"
         "                 p:\n                  q:\n",
         17, "too many keys"},
    };

    expect_refusals(refusals, sizeof(refusals) / sizeof(*refusals), 1);
}
END_TEST

/* ---- malformed files ---- */

START_TEST(malformed_files_of_keel_are_refused)
{
    static const refusal_t refusals[] = {
        {"", 0, "it names no levels"},
        {"\n# nothing\n", 0, "it names no levels"},
        {"levels\n", 1, "no levels are named"},
        {"rack a: n1", 1, "the first line has to name the levels"},
        {"levels rack\nlevels row", 2, "levels are named twice"},
        {"levels rack rack", 1, "level rack is named twice"},
        {"levels node", 1, "'node' cannot be the name of a level"},
        {"levels auto", 1, "'auto' cannot be"},
        {"levels Rack", 1, "'Rack' cannot be"},
        {"levels abcdefghijklmnopqrstuvwxyzabcdefg", 1, "cannot be the name"},
        {"levels a b c d e f g h i j k l m n o p q", 1, "more than 16 levels"},
        {"levels rack\n\nrow a: n1", 3, "'row' is not one of the levels"},
        {"levels rack\nrack a n1", 2, "no colon"},
        {"levels rack\nrack : n1", 2, "one name"},
        {"levels rack\nrack a b: n1", 2, "one name"},
        {"levels rack\nrack a[1-2]: n1", 2, "one name"},
        {"levels rack\nrack a: n[1", 2, "a bracket is not closed"},
        {"levels rack \\\n row\nrack a: n[3-1]", 3, "backwards"},
        {"levels rack\nrack a: n[0-3]\nrack b: n[3-7]", 3, "n3 is in a and in b"},
        {"levels rack row\nrack a: n[0-3]\nrow x: a\nrow y: a", 4, "a is in x and in y"},
        {"levels rack row\nrack a: n[0-3]\nrow x: n[0-1]\nrow y: n[2-3]", 0, "several elements of the level above"},
        {"levels rack row\nrack a: n[0-3]\nrow x: n[0-1]", 0, "several elements of the level above"},
        {"levels rack row\nrack a: n[0-3]\nrow x: a\nrow y: n3", 4, "n3 is in x and in y"},
        {"levels row rack\nrack r1: n[0-3]\nrack r2: n[4-7]\nrow a: r[1-2]", 4, "r1 is a rack: it cannot be in row a"},
        {"levels rack\nrack a: n[0-3] b\nrack b: n[4-7]", 2, "b is a rack: it cannot be in rack a"},
        {"levels rack\nrack a: n[0-9][0-9][0-9][0-99][0-999]", 2, "too many"},
        {"levels rack\nrack a: n[000-999][000-999][0-9]", 2, "too many names"},
    };

    expect_refusals(refusals, sizeof(refusals) / sizeof(*refusals), 0);
}
END_TEST

START_TEST(malformed_files_of_slurm_are_refused)
{
    static const refusal_t refusals[] = {
        {"", 0, "it has no switches"},
        {"LinkSpeed=5", 1, "no SwitchName"},
        {"SwitchName=s1", 1, "needs either nodes or switches"},
        {"SwitchName=s1 Nodes=n1 Switches=s2", 1, "needs either"},
        {"SwitchName=s1 Nodes=", 1, "Nodes has no value"},
        {"SwitchName= Nodes=n1", 1, "has no value"},
        {"Nodes=n1", 1, "no SwitchName"},
        {"SwitchName=s1 Nodes", 1, "expected KEY=VALUE at 'Nodes'"},
        {"SwitchName=s1 Nodes=n1\nInclude /etc/slurm/more.conf", 2, "Include is not followed: give what scontrol"},
        {"include\tmore.conf", 1, "Include is not followed"},
        {"Include", 1, "Include is not followed"},
        {"Includes=n1", 1, "unknown key Includes"},
        {"SwitchName=s1 Noodles=n1", 1, "unknown key Noodles"},
        {"SwitchName=s1 Nodes=n1 Nodes=n2", 1, "Nodes is given twice"},
        {"SwitchName=s1 Nodes=\"n1", 1, "a quote is not closed"},
        {"SwitchName=s[1-2] Nodes=n1", 1, "no brackets"},
        {"SwitchName=s1 Nodes=n1\nSwitchName=s1 Nodes=n2", 2, "switch s1 is given twice"},
        {"SwitchName=s1 Nodes=n1\nSwitchName=s0 Switches=s[1-2]", 2, "switch s2 is not defined"},
        {"SwitchName=s1 Switches=s1", 1, "switch s1 is in itself"},
        {"SwitchName=s1 Switches=s2\nSwitchName=s2 Switches=s1", 2, "s2 is in itself"},
        {"SwitchName=s1 Nodes=n[1-]", 1, "no end"},
        {"SwitchName=s1 Level=16 Nodes=n1", 1, "Level of s1 is not one of 0 to 15"},
        {"SwitchName=s1 Level=x Nodes=n1", 1, "Level of s1 is not"},
        {"SwitchName=s1 Level=1 Switches=s2", 1, "switch s2 is not defined"},
        {"SwitchName=s1 Level=1", 1, "needs either"},
        {"SwitchName= =s1", 1, "has no value"},
        {"= s1", 1, "expected KEY=VALUE"},
        {"x\\\nSwitchName=s1 Nodes=n1", 1, "expected KEY=VALUE"},
    };

    expect_refusals(refusals, sizeof(refusals) / sizeof(*refusals), 1);
}
END_TEST

START_TEST(bytes_that_are_no_text_are_refused)
{
    static const char zero[] = "levels rack\nrack a: n0\0n1";
    keel_tree_error_t error;
    keel_tree_t tree;

    ck_assert_int_eq(keel_topofile_parse(zero, sizeof(zero) - 1, &tree, &error), KEEL_ERR_INVALID_PARAM);
    ck_assert(strstr(error.text, "zero byte") != NULL);
    ck_assert_int_eq(keel_slurm_parse(zero, KEEL_TREE_TEXT_MAX + 1, &tree, &error), KEEL_ERR_INVALID_PARAM);
    ck_assert(strstr(error.text, "longer than") != NULL);
}
END_TEST

/* ---- allocations that fail ---- */

static int fail_at, live;

static int may_allocate(void *arg, size_t bytes, const char *name)
{
    return fail_at-- != 0;
}

static void allocated(void *arg, void *memory, size_t bytes, int is_arena)
{
    live++;
}

static void freed(void *arg, void *memory)
{
    live--;
}

START_TEST(each_failing_allocation_is_reported_and_leaks_nothing)
{
    const keel_memory_hook_t hook = {may_allocate, allocated, freed, NULL};
    keel_domains_t domains;
    keel_tree_error_t error;
    keel_status_t status;
    int i = 0;

    keel_memory_set_hook(&hook);
    do {
        fail_at = i++;
        status = make("levels rack row\nrack a: n[0-3]\nrow x: a n5",
                      "SwitchName=s0 Switches=s[1-2]\nSwitchName=s1 Nodes=n[0-3]\nSwitchName=s2 Nodes=n[4-7]", &domains,
                      &error);
        ck_assert(status == KEEL_OK || (status == KEEL_ERR_NO_MEMORY && live == 0));
    } while (status != KEEL_OK);
    ck_assert_int_gt(i, 40);
    keel_domains_release(&domains);
    ck_assert_int_eq(live, 0);
    keel_memory_set_hook(NULL);
}
END_TEST

/* ---- placement by a level's name ---- */

START_TEST(levels_are_chosen_by_name_and_refusals_say_what_is_possible)
{
    static const struct {
        const char *level;
        uint32_t group_size, parities;
        keel_status_t status;
        const char *note;
    } cases[] = {
        {"auto", 2, 1, KEEL_OK, "no rack holds more than 1 of a group"},
        {"auto", 4, 1, KEEL_OK, "no node holds more than 1 of a group"},
        {"auto", 4, 2, KEEL_OK, "no rack holds more than 2 of a group"},
        {"rack", 2, 1, KEEL_OK, "no rack holds more than 1 of a group"},
        {"node", 8, 1, KEEL_OK, "no node holds more than 1 of a group"},
        {"none", 4, 1, KEEL_OK, "no node holds more than 1 of a group"},
        {"rack", 4, 1, KEEL_ERR_GROUPS,
         "with groups of 4 some rack has to hold 2 of a group, and parity covers 1; groups of 2 would do"},
        {"rack", 8, 3, KEEL_ERR_GROUPS,
         "with groups of 8 some rack has to hold 4 of a group, and parity covers 3; groups of 7 would do"},
        {"row", 4, 1, KEEL_ERR_INVALID_PARAM, "there is no level 'row': known are none auto node rack"},
        {"auto", 9, 1, KEEL_ERR_GROUPS, "groups of 9 with 1 parities cannot be formed from 8 ranks"},
    };
    char note[KEEL_TOPOLOGY_NOTE_MAX];
    keel_domains_t domains;
    keel_tree_error_t error;
    keel_groups_t groups;

    ck_assert_int_eq(make("levels rack\nrack a: n[0-3]\nrack b: n[4-7]", NULL, &domains, &error), KEEL_OK);
    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const keel_status_t status = keel_topology_place(&domains, cases[i].level, cases[i].group_size,
                                                         cases[i].parities, &groups, note, sizeof(note));

        ck_assert_str_eq(note, cases[i].note);
        ck_assert_int_eq(status, cases[i].status);
        if (status == KEEL_OK) {
            keel_groups_release(&groups);
        }
    }
    keel_domains_release(&domains);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {lists_of_names_are_expanded_as_slurm_does,
                                  malformed_lists_of_names_are_refused,
                                  hosts_are_found_by_whole_and_by_unique_short_names,
                                  keels_file_means_what_it_says,
                                  slurms_file_means_what_it_says,
                                  sources_are_joined_by_precedence,
                                  names_that_leave_gaps_are_reported,
                                  levels_of_switches_that_are_no_tree_are_left_out,
                                  slurms_file_may_be_written_as_slurm_reads_it,
                                  slurms_yaml_means_what_it_says,
                                  malformed_yaml_is_refused,
                                  malformed_files_of_keel_are_refused,
                                  malformed_files_of_slurm_are_refused,
                                  bytes_that_are_no_text_are_refused,
                                  each_failing_allocation_is_reported_and_leaks_nothing,
                                  levels_are_chosen_by_name_and_refusals_say_what_is_possible,
                                  NULL};

    return unit_run("topology", tests);
}
